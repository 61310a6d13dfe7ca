/**
 * Makes pictures of every screen of the page: `npm run screenshots -- [FOLDER]`, in light and dark, 320, 390 and 1280 px
 * wide. `npm run screenshots -- --docs` makes those of the documentation. Needs Chromium (`CHROMIUM=path`, otherwise
 * /usr/bin/chromium).
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { PASSWORD, startShowcase } from './showcase.js'

const [argument = 'screenshots', only = ''] = process.argv.slice(2)
const isDocs = argument === '--docs'
const folder = isDocs ? 'docs/embed/images' : argument
const WIDTHS = [1_280, 390, 320]
/** Until what a screen loads has begun to load. */
const SETTLE_MS = 500
/** Of a picture, in pixels. */
const MOST_HEIGHT = 2_400
/** Pictures of the documentation. */
const DOCS = ['webhooks', 'failing', 'delivery', 'call']

mkdirSync(folder, { recursive: true })
const showcase = await startShowcase({ title: 'Northbell', helpUrl: 'https://northbell.example/help' })
const { url, ids, callId, originalId } = showcase
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
})

/** Names and addresses of the screens; those in German have the ending `-de`. */
const LINDQVIST = [
  ['webhooks', 'webhooks'],
  ['webhooks-de', 'webhooks'],
  ['failing', `webhooks/${ids.crm}`],
  ['failing-de', `webhooks/${ids.crm}`],
  ['rejecting', `webhooks/${ids.orders}`],
  ['rate-limited', `webhooks/${ids.billing}`],
  ['switched-off', `webhooks/${ids.pbx}`],
  ['working', `webhooks/${ids.wall}`],
  ['idle', `webhooks/${ids.staging}`],
  ['activity', `webhooks/${ids.orders}/activity`],
  ['activity-de', `webhooks/${ids.orders}/activity`],
  ['requests', `webhooks/${ids.orders}/activity?view=requests`],
  ['settings', `webhooks/${ids.wall}/settings`],
  ['secret', `webhooks/${ids.wall}/secret`],
  ['delivery', `deliveries/${originalId}`],
  ['delivery-de', `deliveries/${originalId}`],
  ['delivery-gone', `deliveries/${'0'.repeat(32)}`],
  ['call', `calls/${callId}`],
  ['call-de', `calls/${callId}`],
  ['new', 'webhooks/new'],
  ['new-de', 'webhooks/new'],
  ['live', 'live'],
  ['nothing-arrived', 'match'],
  ['find', `search?q=${encodeURIComponent('no such call')}`],
  ['unknown', 'nowhere'],
]
const OPERATOR = [
  ['service', '#/operator'],
  ['service-de', '#/operator'],
  ['service-find', '#/northbell/search?q=Lind'],
]

try {
  for (const colorScheme of isDocs ? ['light'] : ['light', 'dark']) {
    for (const width of isDocs ? [1_280] : WIDTHS) {
      const look = { colorScheme, width }
      await pictures(look, undefined, [['sign-in', '']])
      await pictures(look, ['lindqvist', 'alma'], LINDQVIST)
      await pictures(
        look,
        ['hansen', 'kim'],
        [
          ['first', 'webhooks'],
          ['first-de', 'webhooks'],
        ],
      )
      await pictures(look, ['northbell', 'operator'], OPERATOR)
    }
  }
} finally {
  await browser.close()
  await showcase.close()
}

/** A picture of a third of the size of a PNG. */
async function screenshotWebp(tab, path) {
  const session = await tab.context().newCDPSession(tab)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  writeFileSync(path, Buffer.from(data, 'base64'))
  await session.detach()
}

/** Signs a user in and makes the pictures of the screens. */
async function pictures({ colorScheme, width }, user, screens) {
  const wanted = screens.filter(([name]) => (isDocs ? DOCS.includes(name) : new RegExp(only).test(name)))
  if (wanted.length === 0) return
  const viewport = { width, height: width === 1_280 ? 860 : 844 }
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en', hasTouch: width < 1_280 })
  const tab = await context.newPage()
  tab.on('pageerror', (error) => console.error(String(error)))
  await tab.goto(url)
  if (user) await signIn(tab, user)
  for (const [name, hash] of wanted) {
    const language = name.endsWith('-de') ? 'de' : 'en'
    await tab.evaluate((value) => localStorage.setItem('hookswitch-portal-language', value), language)
    if (user) {
      await tab.goto('about:blank')
      await tab.goto(`${url}${hash.startsWith('#') ? hash : `#/${user[0]}/${hash}`}`)
    }
    await tab.locator('h1').waitFor()
    if (name === 'live') for (let call = 0; call < 3; call += 1) await showcase.makeCall()
    await tab.waitForTimeout(SETTLE_MS)
    await tab.waitForFunction(() => !document.querySelector('.waiting'))
    const path = join(folder, isDocs ? `${name}.webp` : `${name}-${colorScheme}-${width}.png`)
    // As high as the screen; a list shows the rows that the window has.
    const whole = await tab.evaluate(() => document.documentElement.scrollHeight)
    if (!isDocs) await tab.setViewportSize({ width, height: Math.min(MOST_HEIGHT, whole) })
    if (isDocs) await screenshotWebp(tab, path)
    else await tab.screenshot({ path })
    await tab.setViewportSize(viewport)
    const tooWide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    console.log(`${path}${tooWide > 0 ? `: ${tooWide} px too wide` : ''}`)
  }
  await context.close()
}

async function signIn(tab, [account, username]) {
  await tab.locator('input[autocomplete="organization"]').fill(`${account}.northbell.example`)
  await tab.locator('input[autocomplete="username"]').fill(username)
  await tab.locator('input[type="password"]').fill(PASSWORD)
  await tab.locator('button[type="submit"]').click()
  await tab.locator('.top').waitFor()
}
