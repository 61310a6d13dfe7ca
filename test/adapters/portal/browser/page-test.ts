/** Tests of the page: a service and a browser for each file, and a page for each test, on which nothing may go wrong. */
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { test as base, expect } from 'vitest'
import { launch, logIn, newPage, type Reports } from './browser.js'
import { startWorld, type World } from './world.js'

export interface PageFixtures {
  readonly world: World
  readonly browser: Browser
  readonly opened: Awaited<ReturnType<typeof newPage>>
  readonly page: Page
  readonly context: BrowserContext
  readonly reports: Reports
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
  async opened({ browser }, use) {
    const opened = await newPage(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
    await use(opened)
    await opened.context.close()
    expect(opened.reports.problems).toEqual([])
  },
  page: ({ opened }, use) => use(opened.page),
  context: ({ opened }, use) => use(opened.context),
  reports: ({ opened }, use) => use(opened.reports),
  open: ({ page, world }, use) => use((hash) => page.goto(`${world.url}#/acme/${hash}`)),
  row: ({ page }, use) => use((text) => page.getByRole('row').filter({ hasText: text })),
  button: ({ page }, use) => use((name) => page.getByRole('button', { name, exact: true })),
  answer: ({ page }, use) =>
    use((path, data, more = {}) =>
      page.route(path, (route) => route.fulfill({ json: { data, status: 'success', ...more } })),
    ),
})

/** A test whose page is signed in as the account `acme`. */
export const signedInTest = pageTest.extend<{ readonly page: Page }>({
  async page({ opened, world }, use) {
    await logIn(opened.page, world.url, world.apiKey)
    await use(opened.page)
  },
})
