// @ts-check
/**
 * A page on which your customers see and change their webhooks, in your own site: with its name and colour, and with the
 * login that your users have. After `npm run build`: `node examples/09-a-page-for-your-customers.js`; with `--stay` it goes on
 * for your browser.
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
await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
await hs.webhooks.create('acme', { name: 'Calls', uri: 'http://localhost:9/calls', hook: 'all' })

// The existing site: its users, and a login that sets a cookie. hookswitch knows the customer's account, not its users.
/** @typedef {{ password: string, accountId: string, role: 'admin' | 'read' }} User */
/** @type {Map<string, User>} */
const users = new Map([
  ['alice', { password: 'wonderland', accountId: 'acme', role: 'admin' }],
  ['bob', { password: 'builder', accountId: 'acme', role: 'read' }],
])
/** @type {Map<string, User>} */
const sessions = new Map()
const site = express()
site.post('/login', express.urlencoded({ extended: false }), (request, response) => {
  const user = users.get(request.body.user)
  if (!user || user.password !== request.body.password) return void response.status(401).send('wrong login')
  const id = randomBytes(32).toString('base64url')
  sessions.set(id, user)
  response.cookie('sid', id, { httpOnly: true, sameSite: 'strict' }).redirect(303, '/hooks/portal/')
})
site.get('/', (_request, response) => {
  const fields = '<input name="user" value="alice"><input name="password" type="password" value="wonderland">'
  response.type('html').send(`<form method="post" action="/login">${fields}<button>Sign in</button></form>`)
})

// The page: whoever is signed in to the site is signed in to the page, and may do there what the site says.
const page = portal({
  title: 'Acme Cloud',
  logo: Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#0a7d55"/></svg>',
  ),
  accent: '#0a7d55',
  helpUrl: 'https://help.acme.example/webhooks',
  async session({ cookie }) {
    const id = /(?:^|; )sid=([\w-]+)/.exec(String(cookie))?.[1]
    const user = id === undefined ? undefined : sessions.get(id)
    return user && hs.auth.issue({ accountId: user.accountId, role: user.role, ttlSeconds: 3_600 })
  },
})
site.use('/hooks', expressMiddleware(hs), expressMiddleware(page))

const server = site.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
const url = `http://127.0.0.1:${port}`

// What a browser does.
const html = await fetch(`${url}/hooks/portal`)
console.log(`the page is at ${new URL(html.url).pathname}: ${html.status}`)
const stranger = await sessionOf('')
console.log(`without the cookie of the site: ${stranger.status}`)
for (const [name, { password }] of users) {
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ user: name, password }),
  })
  const [cookie = ''] = login.headers.getSetCookie()
  const signedIn = await sessionOf(cookie.split(';')[0] ?? '')
  const { token, accountId } = /** @type {any} */ (await signedIn.json())
  const webhooks = `${url}/hooks/v1/accounts/${accountId}/webhooks`
  const headers = { 'x-auth-token': token, 'content-type': 'application/json' }
  const list = await fetch(webhooks, { headers })
  const body = JSON.stringify({ data: { name: `By ${name}`, uri: 'http://localhost:9/', hook: 'all' } })
  const change = await fetch(webhooks, { method: 'PUT', headers, body })
  console.log(`${name} opens ${accountId}: ${list.status}, and creates a webhook: ${change.status}`)
  assert.deepEqual([signedIn.status, list.status, change.status], [200, 200, name === 'alice' ? 201 : 403])
}

assert.deepEqual([html.status, stranger.status], [200, 401])
assert.match(await html.text(), /<title>Acme Cloud<\/title>/)
assert.match(html.headers.get('content-security-policy') ?? '', /trusted-types 'none'/)

if (process.argv.includes('--stay')) console.log(`open ${url} in a browser; Ctrl-C ends the program`)
else {
  server.close()
  await hs.close()
}

/** @param {string} cookie */
function sessionOf(cookie) {
  const own = { 'x-hookswitch-portal': '1', 'sec-fetch-site': 'same-origin' }
  return fetch(`${url}/hooks/portal/session`, { headers: { ...own, cookie } })
}
