import { describe, expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';
import { ApiError } from './api-error.js';

describe('an ApiError', () => {
  const error = new ApiError(409, 'conflict', 'It exists.', { headers: { 'retry-after': '1' } });

  it('is an exception of Nest with the status and the body of the response', () => {
    expect(error).toBeInstanceOf(HttpException);
    expect([error.getStatus(), error.getResponse()]).toEqual([409, { code: 'conflict', message: 'It exists.' }]);
    expect([error.message, error.headers]).toEqual(['It exists.', { 'retry-after': '1' }]);
  });

  it('has its code where the log looks for that of any error', () => {
    expect(error.code).toBe('conflict');
  });
});
