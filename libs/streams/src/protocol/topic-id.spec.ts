import { describe, expect, it } from '@jest/globals';
import { topicIdRequest } from './topic-id.js';

/** As a broker of version 4.1 answers: one broker, one topic of one partition. */
const answer =
  '000000000002000000010a3132372e302e302e3100006187000017563246356347397a6445526c646c4e3059574e725151000000010200002f63' +
  '68616e67656c6f672d39346164633234342d313036382d343133632d383634372d346233366430346633366337da1d4e3188c34511a55e510a36' +
  'e28c6a0002000000000000000000010000000002000000010200000001010080000000008000000000';

const { decode, payload } = topicIdRequest('pings');

describe('the request for the id of a topic', () => {
  it('requests one topic by name and creates nothing', () => {
    const noId = '00'.repeat(16);
    const name = Buffer.from('pings').toString('hex');
    expect(payload.toString('hex')).toBe(`00` + `02${noId}06${name}00` + `000000` + `00`);
  });

  it('takes the id from the answer of a broker', () => {
    expect(decode(Buffer.from(answer, 'hex'))).toBe('da1d4e3188c34511a55e510a36e28c6a');
  });

  it('skips fields that a later version has added', () => {
    const brokerEnd = '00006187' + '00';
    const tagged = answer.replace(`${brokerEnd}00`, `${brokerEnd}01` + '05' + '03' + 'aabbcc');
    expect(decode(Buffer.from(tagged, 'hex'))).toBe('da1d4e3188c34511a55e510a36e28c6a');
  });

  it('throws on an error response, which says nothing about the id', () => {
    const unknownTopic = answer.replace('0000000102' + '0000', '0000000102' + '0003');
    expect(() => decode(Buffer.from(unknownTopic, 'hex'))).toThrow(expect.objectContaining({ code: 3 }));
  });
});
