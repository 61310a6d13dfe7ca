/**
 * Tests of the page: a service and a browser for each file, and a tab for each test, in which nothing may go wrong. The tabs
 * share a context and its cache, because a new one costs as much as most tests; cookies and stored settings end with each.
 */
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { test as base, expect } from 'vitest'
import { launch, logIn, newContext, type Reports, watch } from './browser.js'
import { startWorld, type World } from './world.js'

export interface PageFixtures {
  readonly world: World
  readonly browser: Browser
  readonly context: BrowserContext
  /** Has the origin of the page, but not the page: keeps the process and the compiled code of the tabs. */
  readonly idle: Page
  /** The tab of the test, without the session that `signedInTest` gives its `page`. */
  readonly opened: { readonly page: Page; readonly reports: Reports }
  readonly page: Page
  readonly reports: Reports
  /** What a login as the account `acme` puts into `sessionStorage`. */
  readonly session: Readonly<Record<string, string>>
  /** Goes to a screen of the account `acme`. */
  readonly open: (hash: string) => Promise<unknown>
  readonly row: (text: string) => Locator
  readonly button: (name: string) => Locator
  /** Answers the requests of a path in the form of the API. */
  readonly answer: (path: string, data: unknown, more?: object) => Promise<unknown>
}

/** A test whose page is not signed in. */
export const pageTest = base.extend<PageFixtures>({
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: fixtures are read from the pattern
    async ({}, use) => {
      const world = await startWorld()
      await use(world)
      await world.close()
    },
    { scope: 'file' },
  ],
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: fixtures are read from the pattern
    async ({}, use) => {
      const browser = await launch()
      await use(browser)
      await browser.close()
    },
    { scope: 'file' },
  ],
  context: [
    async ({ browser }, use) => {
      const context = await newContext(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
      await use(context)
      await context.close()
    },
    { scope: 'file' },
  ],
  idle: [
    async ({ context, world }, use) => {
      const idle = await context.newPage()
      await idle.goto(new URL('/nothing', world.url).href)
      await use(idle)
    },
    { scope: 'file' },
  ],
  async opened({ context, idle }, use) {
    const page = await context.newPage()
    const reports = watch(page)
    await use({ page, reports })
    for (const open of context.pages()) if (open !== idle) await open.close()
    await context.setOffline(false)
    await context.clearCookies()
    await idle.evaluate('localStorage.clear()')
    expect(reports.problems).toEqual([])
  },
  page: ({ opened }, use) => use(opened.page),
  reports: ({ opened }, use) => use(opened.reports),
  session: [
    async ({ context, world }, use) => {
      const page = await context.newPage()
      await logIn(page, world.url, world.apiKey)
      const session = await page.evaluate<Record<string, string>>('({ ...sessionStorage })')
      await page.close()
      await use(session)
    },
    { scope: 'file' },
  ],
  open: ({ page, world }, use) => use((hash) => page.goto(`${world.url}#/acme/${hash}`)),
  row: ({ page }, use) => use((text) => page.getByRole('row').filter({ hasText: text })),
  button: ({ page }, use) => use((name) => page.getByRole('button', { name, exact: true })),
  answer: ({ page }, use) =>
    use((path, data, more = {}) =>
      page.route(path, (route) => route.fulfill({ json: { data, status: 'success', ...more } })),
    ),
})

/** A test whose page, still blank, is signed in as the account `acme`. */
export const signedInTest = pageTest.extend<{ readonly page: Page }>({
  async page({ opened, session, world }, use) {
    // Would sign in again when a test signs out and reloads: such a test uses `pageTest`.
    await opened.page.addInitScript(`
      if (location.origin === '${new URL(world.url).origin}' && sessionStorage.length === 0)
        Object.assign(sessionStorage, ${JSON.stringify(session)})
    `)
    await use(opened.page)
  },
})
