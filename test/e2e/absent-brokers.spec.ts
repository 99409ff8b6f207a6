import { describe, expect, it } from '@jest/globals';
import { openGroupProgress, openRecordPublisher } from '@waypost/platform/without-nest';
import { assertApplicationsStopped } from '../../apps/cli/src/state-transfer/stopped-applications.js';
import { messageOf } from '../../apps/cli/src/terminal/message-of.js';

/** Nothing listens there. */
const settings = { brokers: ['127.0.0.1:1'], clientId: 'waypost' };

describe('a command that no broker responds to', () => {
  it('says in one sentence which brokers it asked, and what to do, whatever it asks them first', async () => {
    const firstRequests = [
      openGroupProgress(settings),
      openRecordPublisher(settings, 'telemetry.pings'),
      assertApplicationsStopped(settings),
    ];
    const said = await Promise.all(firstRequests.map((request) => request.then(() => 'nothing', messageOf)));
    const sentence = /^Connecting to 127\.0\.0\.1:1: no broker responds \(.*ECONNREFUSED.*\)\. Look after the brokers/;
    expect(said).toEqual(said.map(() => expect.stringMatching(sentence)));
  });
});
