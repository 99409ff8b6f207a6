import { isOpen, type Reader } from '../session/access.js';

export interface Place {
  readonly path: string;
  readonly title: string;
  /** Goes there after `g`. */
  readonly key: string;
}

/** The pages of a fleet. */
const FLEET: readonly Place[] = [
  { path: '/overview', title: 'Overview', key: 'o' },
  { path: '/deliveries', title: 'Deliveries', key: 'd' },
  { path: '/subscriptions', title: 'Subscriptions', key: 's' },
  { path: '/vehicles', title: 'Vehicles', key: 'v' },
];

/** The pages of the installation, which are not below a fleet: `~` is wouter's mark for that. */
const INSTALLATION: readonly Place[] = [
  { path: '~/fleets', title: 'Fleets', key: 'f' },
  { path: '~/topics', title: 'Topics', key: 't' },
  { path: '~/partitions', title: 'Partitions', key: 'p' },
];

export interface Places {
  readonly fleet: readonly Place[];
  readonly installation: readonly Place[];
}

/** What the menu shows to this reader; null: not known so far. */
export function placesOf(reader: Reader | null): Places {
  const isOperator = reader?.type === 'admin';
  const hasFleet = !isOperator || (reader.fleetId ?? null) !== null;
  return {
    fleet: hasFleet ? FLEET.filter(({ path }) => isOpen(path, reader)) : [],
    installation: isOperator ? INSTALLATION : [],
  };
}
