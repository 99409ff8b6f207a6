import type { Feed } from '../support/feeds.js';
import { type Logs, type Places, seeFivePlaces, subscriptionOfCall } from '../support/places.js';
import type { PlainOutcome } from '../support/plain-rules.js';
import type { ReceivedCall, Receiver } from '../support/receiver.js';
import type { RunningWaypost } from '../support/running-waypost.js';
import { signatureProblem } from '../support/signature-problem.js';
import { type Delivery, expectedDeliveries, subscribe, type Subscription } from '../support/subscriptions.js';

/** A feed on its way through the product. */
export interface FeedRun {
  readonly feed: Feed;
  /** What the rules make of it. */
  readonly outcome: PlainOutcome;
  readonly subscriptions: readonly Subscription[];
  readonly expected: readonly Delivery[];
  /** Of the calls that have come so far. */
  readonly signatures: { checked: number; readonly problems: string[] };
}

/** The same when all of it has arrived. */
export interface SeenRun extends FeedRun {
  readonly places: Places;
}

/** Makes the fleet and one subscription per event type. `more` makes further ones. */
export async function prepareFeed(
  waypost: RunningWaypost,
  receiver: Receiver,
  feed: Feed,
  more: () => Promise<Subscription[]> = () => Promise.resolve([]),
): Promise<FeedRun> {
  const { fleet } = feed;
  const outcome = feed.outcome();
  await waypost.createFleet(fleet);
  const url = receiver.url(`/${fleet}`);
  const subscriptions = [...(await subscribe(waypost, { fleet, url })), ...(await more())];
  const expected = expectedDeliveries(fleet, outcome.events, subscriptions);
  return { feed, outcome, subscriptions, expected, signatures: { checked: 0, problems: [] } };
}

export async function publishFeed(waypost: RunningWaypost, feed: Feed, ...flags: readonly string[]): Promise<void> {
  const args = await feed.publishArguments(waypost.dataDir);
  const printed = await waypost.cli('publish', ...args, '--fleet', feed.fleet, ...flags);
  if (!/^published \d+$/m.test(printed)) throw new Error(`waypost publish printed: ${printed}`);
}

/** Checks the signatures of a call against the secret of the subscription that it belongs to; call it within minutes. */
export function checkSignatures(runs: readonly FeedRun[], call: ReceivedCall): void {
  const run = runs.find(({ feed }) => belongsTo(feed, call));
  if (run === undefined) throw new Error(`A call to ${call.path}, which no subscription has.`);
  const { eventType } = JSON.parse(call.body.toString()) as { readonly eventType: string };
  const subscription = subscriptionOfCall(call, eventType, run.subscriptions);
  const problem = subscription ? signatureProblem(call, subscription.secret) : `${eventType} was not subscribed`;
  run.signatures.checked += 1;
  if (problem !== null) run.signatures.problems.push(problem);
}

export async function seeRun(
  waypost: RunningWaypost,
  run: FeedRun,
  options: {
    readonly receiver: Receiver;
    readonly logs: Logs;
    readonly from: number;
    readonly pageSizes: { readonly v1: number; readonly v2: number };
  },
): Promise<SeenRun> {
  const { receiver, ...rest } = options;
  const calls = receiver.calls.filter((call) => belongsTo(run.feed, call));
  return { ...run, places: await seeFivePlaces(waypost, { fleet: run.feed.fleet, calls, ...rest }) };
}

/** The first part of the path is the fleet. */
function belongsTo({ fleet }: Feed, { path }: ReceivedCall): boolean {
  return path.split('/')[1] === fleet;
}
