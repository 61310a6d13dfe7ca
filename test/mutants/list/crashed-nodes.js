/** Seeded faults: what waits at a crash goes on without waiting for a lease, and no node that lives loses its shards. */

const crashed = ['test/adapters/storage/postgres-crashed-nodes.test.ts']
const living = ['test/adapters/storage/postgres-living-nodes.test.ts']
const file = 'adapters/storage/postgres/crashed-nodes.ts'

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'the shards of a crashed node wait for the end of its lease',
    file: 'adapters/storage/postgres/leases.ts',
    find: 'node.aliveUntilMs > now && node.isGone',
    replace: 'node.aliveUntilMs > now && !node.isGone',
    tests: crashed,
  },
  {
    what: 'a node that owns shards learns of a crash at its next renewal',
    file: 'src/delivery/queue-sync.ts',
    find: '    if (polled.mustRenew) deps.renew()\n',
    replace: '',
    tests: ['test/delivery/dispatcher-new-lease.test.ts'],
  },
  {
    what: 'a process that runs is not spared',
    file,
    find: "if (state !== 'unknown') return state === 'gone'",
    replace: "if (state === 'gone') return true",
    tests: crashed,
  },
  {
    what: 'a session that is gone is proof enough',
    file,
    find: 'const CONFIRM_MS = 3_000',
    replace: 'const CONFIRM_MS = 0',
    tests: crashed,
  },
  {
    what: 'a new key, or a renewed lease, is not noticed',
    file,
    find: '(a: NodeSession, b: NodeSession) => a.key === b.key && a.aliveUntilMs === b.aliveUntilMs',
    replace: '(_a: NodeSession, _b: NodeSession) => true',
    tests: crashed,
  },
  {
    what: 'a node behind a pooler keeps its key',
    file,
    find: 'if (!holdsKey) {',
    replace: "if (!holdsKey && key === '') {",
    tests: crashed,
  },
  {
    what: 'a connection of the host is returned with its lock',
    file,
    find: '      if (key !== null) await subscription.query(sql.release, [key]).catch(() => {})\n',
    replace: '',
    tests: crashed,
  },
  {
    what: 'a process that has ended counts as running until its parent knows it',
    file: 'adapters/storage/postgres/process-state.ts',
    find: " && !'ZX'.includes(found.state)",
    replace: '',
    tests: crashed,
  },
  {
    what: 'a later process with the same id counts as the same',
    file: 'adapters/storage/postgres/process-state.ts',
    find: 'found.start === start && ',
    replace: '',
    tests: crashed,
  },
  {
    what: 'a node that has lost only its listening connection keeps its key stored',
    file,
    find: '      key = null\n      // If the other connections work, the node lives, whatever happens to this one.\n      void store()\n',
    replace: '      key = null\n',
    tests: living,
  },
  {
    what: 'a new session does not store its key',
    file,
    find: '      key = next\n      await store()\n',
    replace: '      key = next\n',
    tests: living,
  },
  {
    what: 'keys of an earlier run of the server count',
    file: 'adapters/storage/postgres/sql/session-keys.ts',
    find: 'k.server_start = pg_postmaster_start_time() and ',
    replace: '',
    tests: living,
  },
  {
    what: 'keys outlive a crash of the server',
    file: 'adapters/storage/postgres/schema.ts',
    find: 'create unlogged table ${s}.node_session',
    replace: 'create table ${s}.node_session',
    tests: living,
  },
]
