import { TRIP_BYTES } from './trip-bytes.js';

/** Where the numbers of a device's state lie in its bytes: what every ping looks at comes first. */
export const FLAGS = 0;
export const IN_GEOFENCES = 1;
export const NEWEST_EVENT_TIME = 2;
export const LATITUDE = 10;
export const LONGITUDE = 18;
export const FIX_TIME = 26;
export const LAST_SENT_TIME = 34;
export const GEOFENCES_SEEN_AT = 42;
/** Of the fleet's geofences when the calm area was found; 0: there is none. Known to this process only, as what follows. */
export const CALM_REVISION = 50;
/** In steps of a degree (STEPS_PER_DEGREE), within the area that was found. */
export const CALM_SOUTH = 54;
export const CALM_NORTH = 58;
export const CALM_WEST = 62;
export const CALM_EAST = 66;
export const TRIP = 70;
export const DEVICE_STATE_BYTES = TRIP + TRIP_BYTES;

/** A set bit: the value is there. What is null has no bit, so no number has to stand for null. */
export const HAS_IGNITION = 1;
export const IGNITION_ON = 2;
export const ARMED = 4;
export const HAS_LAST_SENT_TIME = 8;
export const HAS_FIX_TIME = 16;
export const HAS_LATITUDE = 32;
export const HAS_LONGITUDE = 64;
export const HAS_GEOFENCES = 128;

/** About a centimetre, and 180 degrees of them are below 2^31. */
export const STEPS_PER_DEGREE = 1e7;
