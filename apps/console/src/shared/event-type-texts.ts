import type { EventType } from '@waypost/client';

/** When an event of each type happens, for those who see the name for the first time. */
export const EVENT_TYPE_TEXTS: Readonly<Record<EventType, string>> = {
  position: 'where it is, every 3 minutes while the ignition is on',
  position_sleep: 'where it is, every 3 minutes while the ignition is off',
  ignition_on: 'the ignition was switched on',
  ignition_off: 'the ignition was switched off',
  geofence_in: 'it entered one of your geofences',
  geofence_out: 'it left one of your geofences',
  route_started: 'it started a route',
  route_finished: 'it finished a route',
  stop_started: 'it started a stop',
  stop_finished: 'it continued after a stop',
  test: 'someone sent a test event',
};
