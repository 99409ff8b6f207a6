import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { nowMs } from './clock.js';
import { type Remembered, requestMemory } from './request-memory.js';

interface Creation<Asked, Made> {
  readonly send: (asked: Asked, remembered: Remembered) => Promise<Made>;
  readonly onSuccess?: (made: Made) => unknown;
}

/** A mutation that makes one thing, however often it is asked for the same until it has succeeded. */
export function useCreation<Asked, Made>({ send, onSuccess }: Creation<Asked, Made>) {
  const [memory] = useState(() => requestMemory({ newKey: () => crypto.randomUUID(), nowMs }));
  return useMutation({
    mutationFn: async (asked: Asked) => {
      const made = await send(asked, memory.recall(asked));
      memory.forget();
      return made;
    },
    onSuccess: (made) => onSuccess?.(made),
  });
}
