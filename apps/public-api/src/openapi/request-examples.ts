/** An example of the body of an operation, where one helps. */
export const REQUEST_EXAMPLES: Readonly<Record<string, unknown>> = {
  createSubscriptions: {
    url: 'https://receiver.example.com/waypost',
    eventTypes: ['geofence_in', 'geofence_out'],
    description: 'Gate of the depot',
    metadata: { team: 'yard' },
    onOutage: 'hold',
  },
  updateSubscription: { status: 'paused' },
  createGeofence: {
    name: 'Depot',
    shape: { type: 'circle', center: { latitude: 52.52, longitude: 13.405 }, radiusInMeters: 150 },
  },
  updateGeofence: { name: 'Depot North' },
  updateFleet: { name: 'Berlin', routes: true },
  updateFleetPortal: { frameAncestors: ['https://app.example.com'], brandColor: '#0f766e' },
  createPortalSession: {
    scopes: ['events:read', 'subscriptions:read'],
    expiresIn: 900,
    returnUrl: 'https://app.example.com/webhooks',
  },
  createApiKey: { name: 'dashboard', scopes: ['events:read'] },
};
