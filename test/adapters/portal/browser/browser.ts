/** Debian's Chromium through playwright-core, which downloads none. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'

const PATHS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']

/** Where Chromium is; `undefined` on a machine without it. */
export const CHROMIUM = PATHS.find((path) => path !== undefined && existsSync(path))

if (CHROMIUM === undefined) {
  console.error('SKIPPED: the tests of the page need Chromium (apt-get install chromium, or CHROMIUM=path)')
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM!,
    // A container's root has no sandbox and little shared memory. A process for each tab would compile the page again.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--process-per-site'],
  })
}

/** What a page reported: errors, failed assertions of the policy, and dialogs of injected scripts. */
export interface Reports {
  readonly problems: string[]
}

/** Watches a page for everything that must not happen on it. */
export function watch(page: Page): Reports {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    const text = message.text()
    // Also every response of 4xx, which a browser logs with the address beside the text.
    if (message.type() === 'error') problems.push(`${text} ${message.location().url}`)
  })
  return { problems }
}

/** Takes out the reports that the test has provoked, of which there must be one. */
export function expectProblems(reports: Reports, pattern: RegExp): void {
  const others = reports.problems.filter((problem) => !pattern.test(problem))
  expect(others.length).toBeLessThan(reports.problems.length)
  reports.problems.splice(0, reports.problems.length, ...others)
}

/** The same for responses with this status. */
export const expectRefusals = (reports: Reports, status: number): void =>
  expectProblems(reports, new RegExp(`the server responded with a status of ${status}`))

/** Leaves out every timer by which the page asks again, so that what it shows next comes from the stream. */
export const WITHOUT_POLLING = `
  const { setInterval } = window
  window.setInterval = (run, ms, ...rest) => (ms >= 2000 ? 0 : setInterval(run, ms, ...rest))
`

/** The page asks again after a hundredth of the time. */
export const FAST_POLLING = `
  const { setInterval } = window
  window.setInterval = (run, ms, ...rest) => setInterval(run, ms >= 2000 ? ms / 100 : ms, ...rest)
`

/** The session as the page stores it. */
export async function storedSession(page: Page): Promise<{ readonly token: string }> {
  return JSON.parse(await page.evaluate<string>('Object.values(sessionStorage).join()'))
}

/** Logs in by API key and waits for the list. */
export async function logIn(page: Page, url: string, apiKey: string): Promise<void> {
  await page.goto(url)
  await fillApiKey(page, apiKey)
  // The form has the heading of the list.
  await menuOf(page).waitFor()
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
}

/** Fills in the form of an API key, and sends it. */
export async function fillApiKey(form: Page | Locator, apiKey: string): Promise<void> {
  await form.getByRole('button', { name: 'API key', exact: true }).click()
  await form.getByLabel('API key', { exact: true }).fill(apiKey)
  await form.getByRole('button', { name: 'Sign in' }).click()
}

const menuOf = (page: Page) => page.getByRole('button', { name: /menu$/i })

/** Opens the user's menu. */
export const openMenu = (page: Page): Promise<void> => menuOf(page).click()

export async function signOut(page: Page): Promise<void> {
  await openMenu(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
}

/** Fills in the form of a user of the realm `acme.example`, and sends it. */
export async function logInAsUser(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Company').fill('acme.example')
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export async function newContext(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0],
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options })
  // Far above what a busy machine needs.
  context.setDefaultTimeout(60_000)
  return context
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Rules whose result depends on the colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** The violations that axe finds on a page. @param rules Default: all */
export async function violations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeSource)
  // Passed checks are as large as the page, and most of the time went into describing them.
  const options = { reporter: 'no-passes', ...(rules && { runOnly: { type: 'rule', values: rules } }) }
  // Colours are checked when what changes them has ended, but for what turns for ever. The first frame begins it.
  return page.evaluate<string[]>(
    `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      .then(() =>
        Promise.allSettled(document.getAnimations()
          .filter((a) => a.effect.getComputedTiming().endTime < Infinity).map((a) => a.finished)))
      .then(() => axe.run(${JSON.stringify(options)}))
      .then(({ violations }) => violations.map(({ id, nodes }) =>
        id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
  )
}

/** Wide and narrow, dark and light, axe finds nothing, and the page is not wider than the window. */
export async function expectFit(page: Page, name = ''): Promise<void> {
  for (const width of [1_280, 320]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['dark', 'light'] as const) {
      // A colour that is still changing has another contrast.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      // The schemes differ in colours only.
      const found = await violations(page, colorScheme === 'dark' ? COLOUR_RULES : undefined)
      expect([name, width, colorScheme, found]).toEqual([name, width, colorScheme, []])
    }
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect([name, width, Math.max(0, tooWide)]).toEqual([name, width, 0])
  }
  await page.setViewportSize({ width: 1_280, height: 900 })
}
