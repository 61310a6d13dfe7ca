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
    // A container's root has no sandbox and little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
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

export async function newPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext; readonly reports: Reports }> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options })
  // Far above what a busy machine needs.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  return { page, context, reports: watch(page) }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The violations that axe finds on a page. */
export async function violations(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, which the policy of the page does not bind.
  await page.evaluate(axeSource)
  // Colours are checked when their transitions have ended; what turns for ever is none. The first frame begins them.
  await page.evaluate(
    `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
      Promise.allSettled(document.getAnimations().filter((a) => a instanceof CSSTransition).map((a) => a.finished)))`,
  )
  const found = await page.evaluate<{ readonly violations: readonly AxeViolation[] }>('axe.run()')
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
  )
}

const LOOKS = [
  { colorScheme: 'light', width: 1_280 },
  { colorScheme: 'dark', width: 390 },
  { colorScheme: 'light', width: 320 },
] as const

/** In each look axe finds nothing, and the page is not wider than the window. */
export async function expectFit(page: Page): Promise<void> {
  for (const { colorScheme, width } of LOOKS) {
    // A colour that is still changing has another contrast.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    expect([colorScheme, width, await violations(page)]).toEqual([colorScheme, width, []])
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect([width, Math.max(0, tooWide)]).toEqual([width, 0])
  }
  await page.setViewportSize({ width: 1_280, height: 900 })
}

interface AxeViolation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}
