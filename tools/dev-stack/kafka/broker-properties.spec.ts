import { describe, expect, it } from '@jest/globals';
import { propertiesText } from './broker-properties.js';

describe('propertiesText', () => {
  it('writes values so that Java reads them as they are', () => {
    const values = { path: '/home/zoë/Übung 😀', text: ' a\\b\nc', plain: 'x=y:z#!' };
    expect(propertiesText(values)).toBe(
      'path=/home/zo\\u00eb/\\u00dcbung \\ud83d\\ude00\ntext=\\u0020a\\\\b\\u000ac\nplain=x=y:z#!\n',
    );
  });
});
