import { afterAll } from 'vitest'
import { processIdentity } from '../../../adapters/storage/postgres/process-state.js'
import { postgresForTests } from './pg-cluster.js'
import { postgresConformance } from './postgres-conformance-harness.js'
import { HOSTILE_SETTINGS, withDefaults } from './postgres-hostile-settings.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** Its session has a key that nobody holds, and its process began earlier than the one that has its id now. */
async function crash(schema: string, owner: string): Promise<void> {
  const process = processIdentity()!.replace(/\d+$/, '1')
  await server!.sql(
    `update "${schema}".node_session set key = 1, process = $1
      where fence = (select fence from "${schema}".node where owner = $2)`,
    [process, owner],
  )
}

// Without those that could hide a fault: a comparison by `= null`, a transaction that needs more than `read committed`.
const { transform_null_equals: _, default_transaction_isolation: __, ...settings } = HOSTILE_SETTINGS

postgresConformance(
  server,
  'the PostgreSQL store, whose connections have unusual defaults',
  () => ({ connectionString: withDefaults(server!.url, settings) }),
  crash,
)
