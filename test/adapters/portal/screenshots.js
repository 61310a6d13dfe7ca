/**
 * Makes the pictures of the page for its documentation: `npm run screenshots -- [FOLDER] [dark]`. Needs Chromium
 * (`CHROMIUM=path`, otherwise /usr/bin/chromium).
 */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { constant, createHookswitch, memoryStore } from 'hookswitch'
import { nodeHandler } from 'hookswitch/node'
import { portal } from 'hookswitch/portal'
import { chromium } from 'playwright-core'

const [folder = 'docs/embed/images', colorScheme = 'light'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const receiver = http.createServer((request, response) => {
  const isFailing = request.url === '/crm'
  const body = isFailing ? '{"error":"pool exhausted","retry":12345678901234567890}' : ''
  request.resume().on('end', () => {
    response.writeHead(isFailing ? 503 : 204, { 'content-type': 'application/json' }).end(body)
  })
})
const port = await listening(receiver)
const hs = createHookswitch({
  store: memoryStore(),
  allowLocal: true,
  operators: ['acme'],
  retryPolicy: constant(500),
})
await hs.start()
const { apiKey } = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
const at = (path) => `http://127.0.0.1:${port}${path}`
const crm = await hs.webhooks.create('acme', { name: 'CRM popup', uri: at('/crm'), hook: 'all', retries: 2 })
await hs.webhooks.create('acme', { name: 'Dashboard', uri: at('/dashboard'), hook: 'all' })
const exhausted = new Promise((resolve) => hs.events.on('exhausted', resolve))
const parties = { from: '+12025550123@carrier.example', to: '1001@acme.example', direction: 'inbound' }
for (const hook of ['channel_create', 'channel_answer', 'channel_destroy']) {
  await hs.publish({ hook, accountId: 'acme', callId: 'leg-7f3a', ...parties })
}
await exhausted

const [api, page] = [nodeHandler(hs), nodeHandler(portal())]
const server = http.createServer((request, response) => api(request, response, () => page(request, response)))
const url = `http://127.0.0.1:${await listening(server)}/portal/`
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
})
try {
  const tab = await browser.newPage({ viewport: { width: 1100, height: 640 }, colorScheme })
  await tab.goto(url)
  await tab.getByLabel('API key').last().fill(apiKey)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  const shot = async (name, hash, text) => {
    await tab.goto(`${url}#/acme/${hash}`)
    await tab.getByText(text).first().waitFor()
    const path = join(folder, `${name}.png`)
    await tab.screenshot({ path })
    console.log(path)
  }
  await shot('webhooks', 'webhooks', 'Dashboard')
  await tab.goto(`${url}#/acme/webhooks/${crm.id}/attempts`)
  await tab.locator('.row-link').first().click()
  await tab.getByText('pool exhausted').first().waitFor()
  await shot('delivery', tab.url().split('#/acme/')[1], 'pool exhausted')
  await shot('call', 'calls/leg-7f3a', 'channel_destroy')
  await tab.close()
} finally {
  await browser.close()
  await hs.close()
  server.close()
  receiver.close()
}

async function listening(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server.address().port
}
