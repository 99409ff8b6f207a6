import { setTimeout as sleep } from 'node:timers/promises';
import { waitOrAbort } from '../../abort.js';
import { errorMessage, toError } from '../../errors.js';
import type { StreamsLogger } from '../../logger.js';
import { committedOffsetRequest } from '../../protocol/committed-offset.js';
import { partitionName, type TopicPartition } from '../../record.js';
import type { CommittedOffset, GroupMember, GroupOptions, RebalanceListener } from '../backend.js';
import type { MemberAssignment } from '../cooperative-assignor.js';
import { MemberPartitions } from '../member-partitions.js';
import { Confirmations } from './confirmations.js';
import { assignToMembers, decodeAssignment, encodeSubscription, type JoinedMember } from './group-protocol.js';
import { type KafkaClient, retryTransient } from './kafka-client.js';
import { groupRefusal, kafkaErrorCode, MEMBER_ID_REQUIRED, reactionTo, UNKNOWN_MEMBER_ID } from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

interface GroupMemberOptions extends GroupOptions {
  readonly client: KafkaClient;
  /** Offset requests have their own connections: a pending JoinGroup blocks its connection. */
  readonly offsets: KafkaClient;
  readonly logger: StreamsLogger;
  readonly monotonicNow: () => number;
}

/** A killed instance is replaced within 10 s: this timeout, a heartbeat, a join and a restore. */
const DEFAULT_SESSION_TIMEOUT_MS = 7_000;
const REBALANCE_TIMEOUT_MS = 30_000;
/** Also limits how soon the others notice that a member has joined or left. */
const HEARTBEATS_PER_SESSION = 20;
const PROTOCOL = 'waypost-sticky';
const PROTOCOL_TYPE = 'consumer';
const REJOIN_WAIT_MS = 200;
const FIRST_JOIN_WITHIN_MS = 15_000;
const LEASE_SHARE_OF_SESSION = 0.7;
const LOOP_END_WAIT_MS = 500;
const LEAVE_TIMEOUT_MS = 1_000;

interface JoinAnswer {
  readonly generationId: number;
  readonly leaderId: string;
  readonly memberId: string;
  readonly members: readonly JoinedMember[];
}

type HeartbeatOutcome = 'accepted' | 'rejoin' | 'expelled';

/**
 * Membership by the classic group protocol. One loop joins and sends heartbeats; tasks continue while it rejoins, since
 * each is fenced by its own transactional.id, not by the group.
 */
export class KafkaGroupMember implements GroupMember {
  private memberId = '';
  private readonly subscriptions = new MemberPartitions();
  private listener: RebalanceListener | null = null;
  private leaving = false;
  private isOutdated = false;
  private loop: Promise<void> = Promise.resolve();
  private pausing = new AbortController();
  /** When the last accepted heartbeat or join was sent: the coordinator's session timeout started later. */
  private acceptedSentAt = -Infinity;
  private readonly confirmations = new Confirmations();

  constructor(private readonly options: GroupMemberOptions) {}

  async join(listener: RebalanceListener): Promise<void> {
    this.listener = listener;
    // Joining fails after a while only at the start; later joins are retried forever.
    await this.joinUntil(this.options.monotonicNow() + FIRST_JOIN_WITHIN_MS, 'debug');
    this.loop = this.live();
  }

  leaseValid(): boolean {
    return this.options.monotonicNow() - this.acceptedSentAt < this.sessionTimeoutMs * LEASE_SHARE_OF_SESSION;
  }

  confirm(generation: number): Promise<boolean> {
    if (generation !== this.subscriptions.generation || this.leaving) return Promise.resolve(false);
    const confirmed = this.confirmations.ask(generation);
    this.pausing.abort();
    return confirmed;
  }

  rejoin(): void {
    this.isOutdated = true;
    this.pausing.abort();
  }

  /** Leaves at once and over other connections: a rebalance may block those of the membership. */
  async leave(): Promise<void> {
    this.leaving = true;
    this.pausing.abort();
    this.confirmations.refuseAll();
    // Close before LeaveGroup: a pending join must not return as a member that no process runs.
    const closed = this.options.client.close();
    // If finding the coordinator hangs, the member leaves without LeaveGroup.
    if (this.memberId !== '')
      await Promise.race([this.sendLeaveGroup(), sleep(LEAVE_TIMEOUT_MS, undefined, { ref: false })]);
    await Promise.all([closed, this.options.offsets.close()]);
    await Promise.race([this.loop, sleep(LOOP_END_WAIT_MS, undefined, { ref: false })]);
  }

  async committed(partition: TopicPartition, { stable } = { stable: false }): Promise<CommittedOffset | null> {
    const { groupId, offsets } = this.options;
    const request = committedOffsetRequest(groupId, partition, stable);
    const { offset, metadata } = await this.asked(request.apiName, () =>
      offsets.atCoordinator('group', groupId, (broker) => offsets.callRaw(broker, request)),
    );
    return offset < 0 ? null : { offset, metadata };
  }

  async commit(
    { topic, partition }: TopicPartition,
    { offset, metadata }: CommittedOffset,
    groupGenerationId = this.subscriptions.generation,
  ): Promise<boolean> {
    const topics = [{ topic, partitions: [{ partition, offset, metadata }] }];
    try {
      await this.atGroup('OffsetCommit', 5, { groupGenerationId, topics }, { client: this.options.offsets });
      return true;
    } catch (error) {
      const reaction = reactionTo(kafkaErrorCode(error));
      if (reaction === 'rejoin' || reaction === 'expelled') return false;
      throw error;
    }
  }

  private async live(): Promise<void> {
    let lastAcceptedAt = this.options.monotonicNow();
    while (!this.leaving) {
      const outcome = this.needsRejoin ? 'rejoin' : await this.heartbeat();
      if (outcome === 'accepted') {
        lastAcceptedAt = this.options.monotonicNow();
        if (!this.needsRejoin) await this.pause(this.sessionTimeoutMs / HEARTBEATS_PER_SESSION);
        continue;
      }
      const silentMs = this.options.monotonicNow() - lastAcceptedAt;
      if (outcome === 'expelled' || silentMs > this.sessionTimeoutMs)
        this.options.logger.warn('group_membership_lost', { silentMs });
      await this.joinUntil(Infinity, 'warn').catch((error: unknown) => this.expelled(error));
      lastAcceptedAt = this.options.monotonicNow();
    }
  }

  private async heartbeat(): Promise<HeartbeatOutcome> {
    const { generation } = this.subscriptions;
    const sentAt = this.options.monotonicNow();
    const confirm = this.confirmations.atHeartbeat(generation);
    try {
      const timeoutMs = this.sessionTimeoutMs / 3;
      await this.atGroup('Heartbeat', 3, { groupGenerationId: generation }, { timeoutMs });
      this.acceptedSentAt = sentAt;
      confirm();
      return 'accepted';
    } catch (error) {
      this.learnMemberId(error);
      const reaction = reactionTo(kafkaErrorCode(error));
      if (reaction === 'rejoin' || reaction === 'expelled') return reaction;
      if (reaction !== 'fatal') await this.pause(REJOIN_WAIT_MS);
      return 'rejoin';
    }
  }

  /** @throws a final refusal of the group, or the last error after the deadline or when the member leaves */
  private async joinUntil(deadline: number, log: 'debug' | 'warn'): Promise<void> {
    for (;;) {
      try {
        await this.joinOnce();
        return;
      } catch (error) {
        const isAskedAgain = this.learnMemberId(error) || reactionTo(kafkaErrorCode(error)) === 'rejoin';
        if (isAskedAgain && !this.leaving) continue;
        const refusal = groupRefusal(error, this.options.groupId, this.options.instanceId);
        if (refusal) throw refusal;
        if (this.leaving || this.options.monotonicNow() > deadline) throw error;
        this.options.logger[log]('group_join_failed', { error: errorMessage(error) });
        await this.pause(REJOIN_WAIT_MS);
      }
    }
  }

  private expelled(refusal: unknown): void {
    if (this.leaving) return;
    this.leaving = true;
    this.memberId = '';
    this.confirmations.refuseAll();
    this.listener?.failed(toError(refusal));
  }

  /** @returns whether the coordinator expects another join at once, under another member id */
  private learnMemberId(error: unknown): boolean {
    const code = kafkaErrorCode(error);
    const { memberId = this.memberId } = error as { readonly memberId?: string };
    if (code === MEMBER_ID_REQUIRED) this.memberId = memberId;
    if (code === UNKNOWN_MEMBER_ID) this.memberId = '';
    return code === MEMBER_ID_REQUIRED || code === UNKNOWN_MEMBER_ID;
  }

  private async joinOnce(): Promise<void> {
    const timeoutMs = REBALANCE_TIMEOUT_MS + this.sessionTimeoutMs;
    this.refuseLeaving();
    // Not at the end: what is said during the join comes too late for it.
    this.isOutdated = false;
    const metadata = encodeSubscription({ topics: this.options.topics, ...this.subscriptions.claim() });
    const parameters = {
      sessionTimeout: this.sessionTimeoutMs,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      protocolType: PROTOCOL_TYPE,
      groupProtocols: [{ name: PROTOCOL, metadata }],
    };
    const joined = await this.atGroup<JoinAnswer>('JoinGroup', 5, parameters, { timeoutMs });
    this.memberId = joined.memberId;
    this.refuseLeaving();
    const { generationId } = joined;
    const groupAssignment = joined.leaderId === joined.memberId ? await this.assignAll(joined) : [];
    const sentAt = this.options.monotonicNow();
    const share = { generationId, groupAssignment };
    const synced = await this.atGroup<{ memberAssignment: Buffer }>('SyncGroup', 3, share, { timeoutMs });
    this.acceptedSentAt = sentAt;
    this.accept(generationId, decodeAssignment(synced.memberAssignment));
  }

  private async assignAll({ members }: JoinAnswer): Promise<readonly unknown[]> {
    // There may be new partitions.
    const { client, topics, joinsTopics, partitionCounts } = this.options;
    await client.refreshMetadata();
    const count = async (topic: string): Promise<number | null> => {
      const found = await client.partitionCount(topic);
      return found === null ? null : Math.max(found, partitionCounts?.get(topic) ?? 0);
    };
    return assignToMembers(members, count, joinsTopics ? topics[0] : undefined);
  }

  private accept(generation: number, share: MemberAssignment): void {
    const revoked = this.subscriptions.accept(generation, share);
    this.confirmations.generationIs(generation);
    this.options.logger.info('group_joined', {
      groupId: this.options.groupId,
      generation,
      partitions: share.partitions.map(partitionName),
      awaited: share.awaited.map(partitionName),
    });
    void this.whenRevoked(this.listener?.assigned({ generation, partitions: share.partitions }), revoked);
  }

  /** Runs in parallel to the loop: heartbeats and rebalances continue while tasks close. */
  private async whenRevoked(closed: Promise<void> | void, revoked: () => void): Promise<void> {
    try {
      await closed;
    } catch (error) {
      this.options.logger.warn('group_revoke_failed', { error: errorMessage(error) });
    }
    revoked();
    if (this.subscriptions.needsRejoin) this.pausing.abort();
  }

  private refuseLeaving(): void {
    if (this.leaving) throw new Error('The member is leaving the group.');
  }

  private async sendLeaveGroup(): Promise<void> {
    const { offsets, groupId } = this.options;
    const parameters = this.identity();
    try {
      await offsets.atCoordinator('group', groupId, (broker) =>
        offsets.call(broker, 'LeaveGroup', 3, parameters, LEAVE_TIMEOUT_MS),
      );
    } catch (error) {
      this.options.logger.debug('group_leave_failed', { error: errorMessage(error) });
    }
  }

  private identity(): object {
    const { groupId, instanceId } = this.options;
    return { groupId, memberId: this.memberId, groupInstanceId: instanceId ?? null };
  }

  private atGroup<T>(
    api: string,
    version: number,
    more: object,
    { client = this.options.client, timeoutMs }: { readonly client?: KafkaClient; readonly timeoutMs?: number },
  ): Promise<T> {
    const parameters = { ...this.identity(), ...more };
    const call = (broker: KafkajsBroker): Promise<T> => client.call(broker, api, version, parameters, timeoutMs);
    return this.asked(api, () => client.atCoordinator('group', this.options.groupId, call));
  }

  private asked<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { logger, monotonicNow } = this.options;
    return retryTransient(work, {
      what,
      logger,
      monotonicNow,
      stopped: () => this.leaving,
      forMs: this.sessionTimeoutMs,
    });
  }

  private get needsRejoin(): boolean {
    return this.isOutdated || this.subscriptions.needsRejoin;
  }

  private get sessionTimeoutMs(): number {
    return this.options.sessionTimeoutMs ?? DEFAULT_SESSION_TIMEOUT_MS;
  }

  private pause(ms: number): Promise<void> {
    this.pausing = new AbortController();
    return waitOrAbort(this.leaving || this.confirmations.pending ? 0 : ms, this.pausing.signal);
  }
}
