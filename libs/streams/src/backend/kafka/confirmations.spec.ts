import { beforeEach, describe, expect, it } from '@jest/globals';
import { flushed } from '../../../../../test/support/until.js';
import { Confirmations } from './confirmations.js';

let confirmations: Confirmations;
let answers: boolean[];

beforeEach(() => {
  confirmations = new Confirmations();
  answers = [];
});

function ask(generation: number): void {
  void confirmations.ask(generation).then((confirmed) => answers.push(confirmed));
}

describe('the question whether a member is still in a generation of its group', () => {
  it('is answered by a heartbeat that is sent after it, not by one that was under way', async () => {
    const accepted = confirmations.atHeartbeat(1);
    ask(1);
    accepted();
    await flushed();
    expect([answers, confirmations.pending]).toEqual([[], true]);
    confirmations.atHeartbeat(1)();
    await flushed();
    expect([answers, confirmations.pending]).toEqual([[true], false]);
  });

  it('is answered with no by a heartbeat of another generation', async () => {
    ask(1);
    confirmations.atHeartbeat(2)();
    await flushed();
    expect([answers, confirmations.pending]).toEqual([[false], false]);
  });

  it('is answered with no when the member joins another generation, and waits on when it is the same one', async () => {
    ask(1);
    ask(2);
    confirmations.generationIs(2);
    await flushed();
    expect([answers, confirmations.pending]).toEqual([[false], true]);
  });

  it('is answered with no when the member leaves', async () => {
    ask(1);
    ask(2);
    confirmations.refuseAll();
    await flushed();
    expect([answers, confirmations.pending]).toEqual([[false, false], false]);
  });
});
