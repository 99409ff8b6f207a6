/** The pages of the menu; `key` goes there after `g`. */
export const PLACES = [
  { path: '/overview', title: 'Overview', key: 'o' },
  { path: '/deliveries', title: 'Deliveries', key: 'd' },
  { path: '/subscriptions', title: 'Subscriptions', key: 's' },
  { path: '/vehicles', title: 'Vehicles', key: 'v' },
] as const;
