/** A server with many accounts and users, some of which are read. */
import { createServer } from 'hookswitch/node'
import { handleRequests } from '../processes.js'
import { startInstance } from './instance.js'

/** Accounts directly below the root; all others are below these. */
const RESELLERS = 100
const idOf = (nth) => `account-${String(nth).padStart(6, '0')}`

let hs
let server

handleRequests(
  {
    /** @param {{ location: object, accounts: number, read: number }} input */
    async listen({ location, accounts, read }) {
      hs = await startInstance(location)
      const inputs = Array.from({ length: accounts }, (_, nth) => ({
        id: idOf(nth),
        name: idOf(nth),
        realm: `${idOf(nth)}.example.com`,
        parentId: nth < RESELLERS ? 'root' : idOf(nth % RESELLERS),
        users: [{ username: 'user', password: 'password' }],
      }))
      await hs.accounts.ensure([{ id: 'root', name: 'root', realm: 'root.example.com' }, ...inputs])
      const paths = { account: [], user: [], webhook: [] }
      // Spread over the whole range, the same number with any number of accounts.
      for (let nth = 0; nth < read; nth += 1) {
        const id = idOf(Math.floor((nth * accounts) / read))
        const { id: webhookId } = await hs.webhooks.create(id, {
          name: 'Calls',
          uri: 'https://hooks.example.com/calls',
          hook: 'channel_answer',
        })
        const account = `/v2/accounts/${id}`
        const [user] = await hs.accounts.get(id).then(({ users }) => users)
        paths.account.push(account)
        paths.user.push(`${account}/users/${user.id}`)
        paths.webhook.push(`${account}/webhooks/${webhookId}`)
      }
      const { token } = await hs.auth.signIn({ apiKey: await hs.accounts.readApiKey('root') })
      server = createServer(hs)
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      return { port: server.address().port, token, paths }
    },
    cpuMs() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
  },
  async () => {
    server?.close()
    server?.closeAllConnections()
    await hs?.close({ drainMs: 0 })
  },
)
