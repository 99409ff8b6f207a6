import type { DataSourceOptions } from 'typeorm';
import { CheaperHistory1760000400000 } from './cheaper-history-1760000400000.js';
import { DeliveriesByReplay1760001100000 } from './deliveries-by-replay-1760001100000.js';
import { DeliveryFigures1760000900000 } from './delivery-figures-1760000900000.js';
import { DeliveryProgress1760001100001 } from './delivery-progress-1760001100001.js';
import { FiguresOfMinutes1760002400000 } from './figures-of-minutes-1760002400000.js';
import { FleetIsolation1760002100000 } from './fleet-isolation-1760002100000.js';
import { FleetRoutes1760000800000 } from './fleet-routes-1760000800000.js';
import { HistoryTables1760000000000 } from './history-tables-1760000000000.js';
import { ManagedResources1760000600000 } from './managed-resources-1760000600000.js';
import { ManagementTables1760000100000 } from './management-tables-1760000100000.js';
import { PageKeys1760000700000 } from './page-keys-1760000700000.js';
import { PathTables1760000500000 } from './path-tables-1760000500000.js';
import { PortalSessionKeys1760002500000 } from './portal-session-keys-1760002500000.js';
import { PortalSessions1760001300000 } from './portal-sessions-1760001300000.js';
import { PortalSessionsOfOperators1760002100002 } from './portal-sessions-of-operators-1760002100002.js';
import { ProjectedTopics1760002100003 } from './projected-topics-1760002100003.js';
import { ReplayTables1760000200000 } from './replay-tables-1760000200000.js';
import { ReplayedEvent1760001000000 } from './replayed-event-1760001000000.js';
import { ReplayedStatusCode1760002300000 } from './replayed-status-code-1760002300000.js';
import { ReplaysByFleet1760002600001 } from './replays-by-fleet-1760002600001.js';
import { SubscriptionCertificates1760002200000 } from './subscription-certificates-1760002200000.js';
import { SubscriptionHeaders1760001201000 } from './subscription-headers-1760001201000.js';
import { SubscriptionNotes1760001200000 } from './subscription-notes-1760001200000.js';
import { SubscriptionOperations1760000300000 } from './subscription-operations-1760000300000.js';
import { WaitingBySubscription1760002100001 } from './waiting-by-subscription-1760002100001.js';
import { WaitingDeliveries1760001100002 } from './waiting-deliveries-1760001100002.js';
import { WrittenPositions1760002600000 } from './written-positions-1760002600000.js';

/** Every migration, oldest first. A released migration is never edited; a change is a new class at the end. */
export const migrations = [
  HistoryTables1760000000000,
  ManagementTables1760000100000,
  ReplayTables1760000200000,
  SubscriptionOperations1760000300000,
  CheaperHistory1760000400000,
  PathTables1760000500000,
  ManagedResources1760000600000,
  PageKeys1760000700000,
  FleetRoutes1760000800000,
  DeliveryFigures1760000900000,
  ReplayedEvent1760001000000,
  DeliveriesByReplay1760001100000,
  DeliveryProgress1760001100001,
  WaitingDeliveries1760001100002,
  SubscriptionNotes1760001200000,
  SubscriptionHeaders1760001201000,
  PortalSessions1760001300000,
  FleetIsolation1760002100000,
  WaitingBySubscription1760002100001,
  PortalSessionsOfOperators1760002100002,
  ProjectedTopics1760002100003,
  SubscriptionCertificates1760002200000,
  ReplayedStatusCode1760002300000,
  FiguresOfMinutes1760002400000,
  PortalSessionKeys1760002500000,
  WrittenPositions1760002600000,
  ReplaysByFleet1760002600001,
] satisfies DataSourceOptions['migrations'];
