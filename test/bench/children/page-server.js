/** A service with its page, over a store with many webhooks and attempts. */
import { createServer } from 'node:http'
import { nodeHandler } from 'hookswitch/node'
import { portal } from 'hookswitch/portal'
import { handleRequests } from '../processes.js'
import { createStore, startInstance } from './instance.js'
import { ACCOUNT, fillPage } from './page-records.js'

let hs
let server

handleRequests(
  {
    /** @param {{ location: import('../stores.js').StoreLocation, webhooks: number, attempts: number }} input */
    async fill({ location, webhooks, attempts }) {
      return fillPage(await createStore(location), { webhooks, attempts })
    },
    /** @param {{ location: import('../stores.js').StoreLocation }} input */
    async listen({ location }) {
      hs = await startInstance(location, { operators: [ACCOUNT] })
      const apiKey = await hs.accounts.readApiKey(ACCOUNT)
      const { token } = await hs.auth.signIn({ apiKey })
      const page = portal()
      const [toPage, toApi] = [nodeHandler(page), nodeHandler(hs)]
      server = createServer((request, response) =>
        (page.handlesPath(request.url) ? toPage : toApi)(request, response),
      )
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      return { port: server.address().port, token, apiKey, accountId: ACCOUNT }
    },
  },
  async () => {
    server?.close()
    server?.closeAllConnections()
    await hs?.close({ drainMs: 0 })
  },
)
