// @ts-check
/**
 * A page on which your customers see and change their webhooks, inside an Express app with a login of its own.
 * After `npm run build`: `node examples/09-a-page-for-your-customers.js`; with `--stay` it goes on for your browser.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import express from 'express'
import { createHookswitch, memoryStore } from 'hookswitch'
import { expressMiddleware } from 'hookswitch/express'
import { portal } from 'hookswitch/portal'

const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
await hs.start()
const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
await hs.webhooks.create('acme', { name: 'Calls', uri: 'http://localhost:9/calls', hook: 'all' })

// The existing app: a login that sets a cookie.
/** @type {Map<string, { name: string, apiKey: string }>} */
const sessions = new Map()
const app = express()
app.post('/login', express.urlencoded({ extended: false }), (request, response) => {
  const { user, password } = request.body
  if (user !== 'alice' || password !== 'wonderland') return void response.status(401).send('wrong login')
  const id = randomBytes(32).toString('base64url')
  sessions.set(id, { name: user, apiKey })
  response.cookie('sid', id, { httpOnly: true, sameSite: 'strict' }).redirect(303, '/hooks/portal/')
})
app.get('/', (_request, response) => {
  const fields = '<input name="user" value="alice"><input name="password" type="password" value="wonderland">'
  response.type('html').send(`<form method="post" action="/login">${fields}<button>Sign in</button></form>`)
})

// The page: whoever is signed in to the app is signed in to the page.
const page = portal({
  async session({ cookie }) {
    const id = /(?:^|; )sid=([\w-]+)/.exec(String(cookie))?.[1]
    const user = id === undefined ? undefined : sessions.get(id)
    return user && hs.auth.signIn({ apiKey: user.apiKey })
  },
})
app.use('/hooks', expressMiddleware(hs), expressMiddleware(page))

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
const url = `http://127.0.0.1:${port}`

// What a browser does.
const html = await fetch(`${url}/hooks/portal`)
console.log(`the page is at ${new URL(html.url).pathname}: ${html.status}`)
const login = await fetch(`${url}/login`, {
  method: 'POST',
  redirect: 'manual',
  body: new URLSearchParams({ user: 'alice', password: 'wonderland' }),
})
const [cookie = ''] = login.headers.getSetCookie()
const own = { 'x-hookswitch-portal': '1', 'sec-fetch-site': 'same-origin' }
const stranger = await fetch(`${url}/hooks/portal/session`, { headers: own })
const signedIn = await fetch(`${url}/hooks/portal/session`, {
  headers: { ...own, cookie: cookie.split(';')[0] ?? '' },
})
const { token, accountId } = /** @type {any} */ (await signedIn.json())
const list = await fetch(`${url}/hooks/v1/accounts/${accountId}/webhooks`, {
  headers: { 'x-auth-token': token },
})
const { data } = /** @type {any} */ (await list.json())
console.log(`without the app's cookie: ${stranger.status}; with it: ${signedIn.status}, account ${accountId}`)
console.log(`the page shows ${data.length} webhook: ${data[0].name}`)

assert.deepEqual([html.status, stranger.status, signedIn.status, list.status], [200, 401, 200, 200])
assert.match(html.headers.get('content-security-policy') ?? '', /trusted-types 'none'/)

if (process.argv.includes('--stay')) console.log(`open ${url} in a browser; Ctrl-C ends the program`)
else {
  server.close()
  await hs.close()
}
