/** Where the numbers of a trip lie in its bytes: first what is looked at of a vehicle at a stop, then of one on the road. */
export const FLAGS = 0;
export const LATITUDE = 1;
export const LONGITUDE = 9;
export const SINCE = 17;
export const MAX_SPEED = 25;
export const DISTANCE = 33;
export const WAY_TIME = 41;
export const WAY_LATITUDE = 49;
export const WAY_LONGITUDE = 57;
export const IDLE = 65;
/** Of the route; at a stop, of the one that may begin. Before there was that, the flag was never set at a stop. */
export const IGNITION_OFF_SINCE = 73;
export const TRIP_BYTES = 81;

/** A set bit: the value is there. */
export const HAS_TRIP = 1;
export const HAS_SINCE = 2;
export const MOVING = 4;
export const HAS_MAX_SPEED = 8;
export const HAS_ROUTE = 16;
export const STANDING = 32;
export const HAS_IGNITION_OFF_SINCE = 64;
