/** Memory of a server that many clients stream from. Needs `--expose-gc`. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { handleRequests, sleep } from '../processes.js'
import { accountName } from './events.js'

let hs
let server

handleRequests(
  {
    /** Creates accounts, each with a token. @param {{ accounts: number, streams: number }} input */
    async listen({ accounts, streams }) {
      hs = createHookswitch({ store: memoryStore(), maxStreams: streams })
      await hs.start()
      const targets = []
      for (let index = 0; index < accounts; index += 1) {
        const id = accountName(index)
        const { apiKey } = await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
        targets.push({ path: `/v2/accounts/${id}/stream`, token: (await hs.auth.signIn({ apiKey })).token })
      }
      server = createServer(hs)
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      return { port: server.address().port, targets }
    },
    async memory() {
      for (let collection = 0; collection < 3; collection += 1) {
        globalThis.gc()
        await sleep(50)
      }
      return { rssMb: process.memoryUsage.rss() / 1e6, heapMb: process.memoryUsage().heapUsed / 1e6 }
    },
  },
  async () => {
    server?.close()
    server?.closeAllConnections()
    await hs?.close({ drainMs: 0 })
  },
)
