import type { Output } from '@waypost/client';

/** One partition of a consumer, and the instance that owns it. */
export type Task = Output<'listTasks'>['data'][number];
