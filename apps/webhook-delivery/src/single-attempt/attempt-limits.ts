import type { ReservationLimits } from '../shares/reservations.js';

/**
 * a delivery begins only if each of its attempts can have a socket on time, and a token request has one of its own.
 * Even if all of them want one, each origin still gets its limit, however they are spread (libs/egress).
 */
export const SOCKETS = 10_240;

export const DELIVERIES_BEGUN: ReservationLimits = { total: 4_096, perOrigin: 512 };

/** A token endpoint may be shared with other fleets, or with the origin of their receivers. */
export const TOKEN_REQUESTS: ReservationLimits = { total: 512, perOrigin: 256 };

/** Above this an attempt waits for a connection while its deadline runs. */
export const CONNECTIONS_PER_ORIGIN = DELIVERIES_BEGUN.perOrigin + TOKEN_REQUESTS.perOrigin;

/**
 * Each lookup asks for both address families. Name servers answer a limited number of questions at a time (1,000 in
 * CoreDNS as Kubernetes sets it up), and names whose own servers are silent must not use up all of them.
 */
export const LOOK_UPS = 256;
