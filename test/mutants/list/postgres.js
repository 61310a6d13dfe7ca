/** Seeded faults: the PostgreSQL store. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'the fence of a settlement is not checked',
    file: 'adapters/storage/postgres/sql/settle.ts',
    find: 'd.state = u.was\n            and d.fence = u.fence',
    replace: 'd.state = u.was',
    tests: ['test/adapters/storage/postgres-conformance.test.ts'],
  },
  {
    what: 'the last delivery of a lane is promoted',
    file: 'adapters/storage/postgres/sql/lanes.ts',
    find: 'order by b.position limit 1',
    replace: 'order by b.position desc limit 1',
    tests: [
      'test/adapters/storage/postgres-queue-lanes.test.ts',
      'test/adapters/storage/postgres-queue-history.test.ts',
    ],
  },
  {
    what: 'no delivery of a lane is promoted',
    file: 'adapters/storage/postgres/sql/lanes.ts',
    find: 'where d.ctid = n.at',
    replace: 'where d.ctid = n.at and false',
    tests: [
      'test/adapters/storage/postgres-queue-lanes.test.ts',
      'test/adapters/storage/postgres-queue-history.test.ts',
    ],
  },
  {
    what: 'a key in use is reused',
    file: 'adapters/storage/postgres/sql/keys.ts',
    find: '          where idempotency.until_ms <= $7\n',
    replace: '',
    tests: [
      'test/adapters/storage/postgres-queue-history.test.ts',
      'test/adapters/storage/postgres-queue-unknown-commit.test.ts',
    ],
  },
  {
    what: 'a row whose place is known is found through an index',
    file: 'adapters/storage/postgres/sql/settle.ts',
    find: 'd.webhook_key + 0 = u.key',
    replace: 'd.webhook_key = u.key',
    tests: ['test/adapters/storage/postgres-queue-plans.test.ts'],
  },
  {
    what: 'a claim ignores that the shard was taken over',
    file: 'adapters/storage/postgres/sql/claim.ts',
    find: ' and s.term = ($7::int[])[array_position($5::smallint[], s.id)]\n            and s.owner = $6 and s.alive_until_ms > $8',
    replace: '\n            and ($6::text is not null and $7::int[] is not null and $8::float8 is not null)',
    tests: ['test/adapters/storage/postgres-queue-interleaving.test.ts'],
  },
  {
    what: 'a claim does not lock the epoch of the webhook',
    file: 'adapters/storage/postgres/sql/claim.ts',
    find: 'w.epoch = ($10::int[])[array_position($9::int[], w.key)]',
    replace: '($10::int[])[1] is not null',
    tests: ['test/adapters/storage/postgres-queue-interleaving.test.ts'],
  },
  {
    what: 'a terminal settlement does not lock the shard',
    file: 'adapters/storage/postgres/sql/settle.ts',
    find: 'order by id for key share\n        ), locked as materialized (',
    replace: 'order by id\n        ), locked as materialized (',
    tests: ['test/adapters/storage/postgres-queue-interleaving.test.ts'],
  },
  {
    what: 'a settlement with a retry does not lock the shard',
    file: 'adapters/storage/postgres/sql/settle.ts',
    find: 'order by id for key share\n        )\n        select null as id',
    replace: 'order by id\n        )\n        select null as id',
    tests: ['test/adapters/storage/postgres-queue-interleaving.test.ts'],
  },
  {
    what: 'a settlement with a retry does not lock the epoch',
    file: 'adapters/storage/postgres/sql/settle.ts',
    find: 'order by key for no key update`',
    replace: 'order by key`',
    tests: ['test/adapters/storage/postgres-queue-interleaving.test.ts'],
  },
  {
    what: 'a takeover does not raise the term of the shard',
    file: 'adapters/storage/postgres/sql/leases.ts',
    find: 'case when owner = $2 and alive_until_ms > $4 then term else term + 1 end',
    replace: 'case when owner = $2 and alive_until_ms > $4 then term else term end',
    tests: ['test/adapters/storage/postgres-queue-nodes.test.ts'],
  },
  {
    what: 'lineages read together start in the wrong order',
    file: 'adapters/storage/postgres/lineages.ts',
    find: 'lines[place - 1]!',
    replace: 'lines[accountIds.length - place]!',
    tests: ['test/adapters/storage/postgres-conformance.test.ts'],
  },
]
