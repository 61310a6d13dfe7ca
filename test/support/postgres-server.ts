/**
 * One PostgreSQL server for a whole test run. It starts when the first test file needs it, so a run without
 * PostgreSQL tests starts none, and ends with the run. Test files get it from `postgresForTests`
 * (`adapters/storage/pg-cluster.ts`), over the port in `TEST_PG_BROKER`.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import {
  type BrokerAnswer,
  type PrivatePgServer,
  privatePostgres,
  RUN_SETTINGS,
} from '../adapters/storage/pg-cluster.js'

/** Vitest calls it for every project: the first call creates the broker. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_PG_BROKER !== undefined) return undefined
  let server: Promise<PrivatePgServer | undefined> | undefined

  const broker = createServer((socket) => {
    socket.on('error', () => {})
    const send = (answer: BrokerAnswer) => socket.end(JSON.stringify(answer))
    server ??= privatePostgres(RUN_SETTINGS)
    server.then(
      (started) => send({ url: started?.url }),
      (thrown: unknown) => send({ error: String(thrown) }),
    )
  })
  broker.listen(0, '127.0.0.1')
  await once(broker, 'listening')
  process.env.TEST_PG_BROKER = String((broker.address() as AddressInfo).port)

  return async () => {
    broker.close()
    await (await server?.catch(() => undefined))?.end()
  }
}
