import { createTopology, type Topology } from '../../topology/topology.js';

/** Copies `<name>.input` to `<name>.output`; throws at a record with the value "poison" until that is fixed. */
export function echoTopology(name: string, isFixed: () => boolean): Topology {
  return createTopology({
    applicationId: name,
    source: `${name}.input`,
    sinks: { output: { topic: `${name}.output`, partitioner: 'source-partition' } },
    processor: (context) => ({
      process: ({ key, value }) => {
        // Forwarded first: what a record that fails has written must not be committed.
        context.forward('output', { key, value });
        if (String(value) === 'poison' && !isFixed()) throw new Error('cannot process this');
      },
    }),
  });
}
