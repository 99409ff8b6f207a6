import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { newIdempotencyKey } from '@waypost/client';
import { nowMs } from './clock.js';
import { isRefusal, type Remembered, requestMemory } from './request-memory.js';

interface Creation<Asked, Made> {
  readonly send: (asked: Asked, remembered: Remembered) => Promise<Made>;
  readonly onSuccess?: (made: Made) => unknown;
  /** The part that the request contains; all of it by default. */
  readonly sent?: (asked: Asked) => unknown;
}

/** A mutation that creates one thing, however often the same request is repeated until it succeeds. */
export function useCreation<Asked, Made>({ send, onSuccess, sent = (asked) => asked }: Creation<Asked, Made>) {
  const [memory] = useState(() => requestMemory({ newKey: newIdempotencyKey, nowMs }));
  return useMutation({
    mutationFn: async (asked: Asked) => {
      try {
        const made = await send(asked, memory.recall(sent(asked)));
        memory.forget();
        return made;
      } catch (error) {
        if (isRefusal(error)) memory.forget();
        throw error;
      }
    },
    onSuccess: (made) => onSuccess?.(made),
  });
}
