import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { polygonFault, type Position } from './polygon-fault.js';

function square(west: number, south: number, size: number): Position[] {
  return [
    [west, south],
    [west + size, south],
    [west + size, south + size],
    [west, south + size],
  ];
}
function closed(ring: readonly Position[]): Position[] {
  return [...ring, ring[0] ?? [0, 0]];
}
function regular(count: number, radius = 10): Position[] {
  return Array.from({ length: count }, (_, index) => {
    const angle = (2 * Math.PI * index) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

describe('a polygon', () => {
  it.each<[string, (readonly Position[])[]]>([
    ['a square', [square(0, 0, 1)]],
    ['a closed square', [closed(square(0, 0, 1))]],
    ['the other way round', [square(0, 0, 1).reverse()]],
    [
      'positions in the middle of an edge',
      [
        [
          [0, 0],
          [1, 0],
          [2, 0],
          [2, 2],
          [0, 2],
          [0, 1],
        ],
      ],
    ],
    ['a hole', [square(0, 0, 10), square(2, 2, 3)]],
    ['two holes, closed', [square(0, 0, 10), closed(square(1, 1, 3)), closed(square(5, 5, 3))]],
    [
      'across the antimeridian',
      [
        [
          [179, 0],
          [-179, 0],
          [-179, 2],
          [179, 2],
        ],
      ],
    ],
    [
      'across the antimeridian, a hole on its other side',
      [
        [
          [170, 0],
          [-170, 0],
          [-170, 10],
          [170, 10],
        ],
        [
          [-175, 2],
          [-172, 2],
          [-172, 5],
        ],
      ],
    ],
    [
      'across the antimeridian, a hole across it too',
      [
        [
          [170, 0],
          [-170, 0],
          [-170, 10],
          [170, 10],
        ],
        [
          [-179, 2],
          [-179, 5],
          [179, 5],
          [179, 2],
        ],
      ],
    ],
    ['1,000 positions', [closed(regular(1_000))]],
    [
      'nearly half the world',
      [
        [
          [-85, -60],
          [0, -60],
          [85, -60],
          [85, 60],
          [0, 60],
          [-85, 60],
        ],
      ],
    ],
  ])('is one: %s', (_, rings) => expect(polygonFault(rings)).toBeNull());

  it.each<[string, (readonly Position[])[], readonly number[], string]>([
    [
      'a line',
      [
        [
          [0, 0],
          [1, 1],
          [2, 2],
        ],
      ],
      [0, 2],
      'crosses or touches',
    ],
    [
      'two positions and the first again',
      [
        [
          [0, 0],
          [1, 1],
          [0, 0],
        ],
      ],
      [0],
      'at least 3 positions',
    ],
    [
      'a bow tie',
      [
        [
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
        ],
      ],
      [0, 2],
      'one from position 0 of ring 0',
    ],
    [
      'a spike',
      [
        [
          [0, 0],
          [4, 0],
          [2, 0],
          [2, 2],
        ],
      ],
      [0, 1],
      'crosses or touches',
    ],
    [
      'a position on another edge',
      [
        [
          [0, 0],
          [4, 0],
          [4, 4],
          [2, 0],
          [0, 4],
        ],
      ],
      [0],
      'crosses or touches',
    ],
    [
      'the same position twice',
      [
        [
          [0, 0],
          [0, 0],
          [1, 0],
          [1, 1],
        ],
      ],
      [0, 1],
      'must differ',
    ],
    [
      'a way round the pole',
      [
        [
          [0, 80],
          [90, 80],
          [180, 80],
          [-90, 80],
        ],
      ],
      [0],
      'pole',
    ],
    [
      'an edge half way round',
      [
        [
          [0, 0],
          [180, 0],
          [90, 10],
        ],
      ],
      [0, 1],
      'half way',
    ],
    ['a hole outside', [square(0, 0, 10), square(20, 20, 1)], [1], 'inside the outer ring'],
    ['a hole that crosses the edge', [square(0, 0, 10), square(8, 8, 5)], [1], 'of ring 0'],
    ['a hole that touches the edge', [square(0, 0, 10), square(0, 2, 2)], [1], 'of ring 0'],
    ['a hole around everything', [square(0, 0, 10), square(-1, -1, 12)], [1], 'inside the outer ring'],
    ['a hole in a hole', [square(0, 0, 10), square(1, 1, 8), square(3, 3, 2)], [2], 'another hole'],
    ['1,001 positions', [regular(600), regular(401, 1)], [], '1000 positions'],
    [
      'crossing itself beyond the antimeridian',
      [
        [
          [179, 0],
          [-179, 2],
          [-179, 0],
          [179, 2],
        ],
      ],
      [0, 2],
      'crosses',
    ],
  ])('is none: %s', (_, rings, path, message) => {
    const found = polygonFault(rings);
    expect(found?.message).toContain(message);
    // Of several crossings it names one: which, is not said.
    expect(found?.path.slice(0, path.length)).toEqual(path);
  });

  it('is one or none wherever on the earth it lies', () => {
    const wrapped = (degrees: number): number => ((((degrees + 180) % 360) + 360) % 360) - 180;
    const position = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 }));
    const ring = fc.uniqueArray(position, { minLength: 3, maxLength: 7, selector: String });
    fc.assert(
      fc.property(ring, fc.integer({ min: -180, max: 179 }), (positions, turn) => {
        const moved = positions.map(([x, y]): Position => [wrapped(x + turn), y]);
        expect(polygonFault([moved])?.path).toEqual(polygonFault([positions])?.path);
      }),
      { numRuns: 300 },
    );
  });

  it('is checked in a few milliseconds, even with 1,000 tangled edges', () => {
    // Every edge is as wide as all of it: none can be left out by its place.
    const zigzag = Array.from({ length: 998 }, (_, index): Position => [index % 2 === 0 ? -80 : 80, index / 20 - 25]);
    const before = process.cpuUsage();
    expect(polygonFault([[...zigzag, [88, 30], [88, -30]]])).toBeNull();
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
  });
});
