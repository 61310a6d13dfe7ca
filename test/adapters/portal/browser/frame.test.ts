/** The frame of every screen: the login, the account, the search, what the user prefers, and the question before leaving. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, expectFit, expectRefusals, fillApiKey, logInAsUser, openMenu, signOut } from './browser.js'
import { signedInTest as it } from './page-test.js'
import { PASSWORD, startWorld } from './world.js'

const focused = (page: Page) => page.evaluate<string>('document.activeElement?.outerHTML ?? ""')

describe.skipIf(CHROMIUM === undefined)('the login', () => {
  it('begins in the first empty field, shows what is typed on request, and leads to the heading', async ({
    world,
    opened: { page, reports },
  }) => {
    await page.goto(world.url)
    await expect.poll(() => focused(page)).toContain('organization')
    await expectFit(page)
    await page.getByRole('button', { name: 'Deutsch' }).click()
    await page.getByRole('heading', { name: 'Bei Webhooks anmelden' }).waitFor()
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByLabel('Password', { exact: true }).fill('seen')
    await page.getByRole('button', { name: 'Show: Password' }).click()
    expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).not.toBe('password')
    await logInAsUser(page, 'alice', 'wrong')
    await page.getByRole('alert').getByText('This login is not right.').waitFor()
    expectRefusals(reports, 401)
    await logInAsUser(page, 'alice', PASSWORD)
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await expect.poll(() => focused(page)).toContain('<h1')
    await page.getByRole('button', { name: 'alice: menu' }).waitFor()
  })

  it('takes an API key, and names the account, not its id', async ({ world, opened: { page } }) => {
    await page.goto(world.url)
    await fillApiKey(page, world.betaKey)
    await page.locator('.account').getByText('Beta', { exact: true }).waitFor()
  })
})

describe.skipIf(CHROMIUM === undefined)('the host', () => {
  it('sets the name, the help, the language and the colours, until the user chooses', async ({
    opened: { page },
  }) => {
    const world = await startWorld({
      title: 'Northbell',
      language: 'de',
      colorScheme: 'dark',
      helpUrl: 'https://northbell.example/help',
    })
    const look = () =>
      page.evaluate('[document.documentElement.lang, document.documentElement.dataset.theme, document.title]')
    try {
      await page.goto(world.url)
      await page.getByRole('heading', { name: 'Bei Webhooks anmelden' }).waitFor()
      expect(await look()).toEqual(['de', 'dark', 'Bei Webhooks anmelden · Northbell'])
      const help = page.getByRole('link', { name: 'Hilfe von Northbell' })
      expect(await help.getAttribute('href')).toBe('https://northbell.example/help')
      await page.getByRole('link', { name: 'Northbell', exact: true }).waitFor()
      await page.getByRole('button', { name: 'English' }).click()
      await page.reload()
      await page.getByRole('heading', { name: 'Sign in to webhooks' }).waitFor()
      expect(await look()).toEqual(['en', 'dark', 'Sign in to webhooks · Northbell'])
    } finally {
      // A request of a page that is open would fail.
      await page.goto('about:blank')
      await world.close()
    }
  })
})

describe.skipIf(CHROMIUM === undefined)('the frame', () => {
  it('switches between accounts, which operators find by name', async ({ page, open, answer }) => {
    await answer('**/system/lookup?*', [
      { type: 'account', id: 'beta', account_id: 'beta', account_name: 'Beta' },
      { type: 'webhook', id: 'w', account_id: 'acme', account_name: 'Acme' },
    ])
    const button = page.getByRole('button', { name: /^Account: / })
    await open('webhooks')
    await page.getByRole('button', { name: 'Account: Acme' }).click()
    await page.getByRole('link', { name: 'Acme Branch' }).click()
    await page.getByRole('button', { name: 'Account: Acme Branch' }).waitFor()
    expect(page.url()).toContain('#/branch/webhooks')
    await button.click()
    await page.getByLabel('Find an account by its name').waitFor()
    await expectFit(page)
    await page.getByLabel('Find an account by its name').fill('bet')
    await page.getByRole('link', { name: 'Beta' }).click()
    await page.getByRole('button', { name: 'Account: Beta' }).waitFor()
    expect(page.url()).toContain('#/beta/webhooks')
    await button.click()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toContain('Account: Beta')
    expect(await button.getAttribute('aria-expanded')).toBe('false')
  })

  it('finds by id in all accounts: one result opens, several are listed, none says what is found', async ({
    page,
    open,
    answer,
  }) => {
    const found = { account_id: 'beta', account_name: 'Beta' }
    const search = async (text: string) => {
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await answer('**/system/lookup?q=none', [])
    await answer('**/system/lookup?q=both', [
      { ...found, type: 'webhook', id: 'w1', label: 'Zulu \u202Egpj' },
      { ...found, type: 'account', id: 'beta' },
    ])
    await answer('**/system/lookup?q=only', [{ ...found, type: 'account', id: 'beta' }])
    await open('webhooks')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await search('none')
    await page.getByText('Nothing found with “none”').waitFor()
    await search('both')
    await page.getByRole('row').filter({ hasText: 'Zulu \\u{202E}gpj' }).waitFor()
    expect(await page.getByRole('link', { name: /^Zulu/ }).getAttribute('href')).toBe('#/beta/webhooks/w1')
    await expectFit(page)
    await search('only')
    await page.getByRole('button', { name: 'Account: Beta' }).waitFor()
    expect(page.url()).toContain('#/beta/webhooks')
    // Back does not lead to the search, which would open the result again.
    await page.goBack()
    await page.getByText('Zulu').waitFor()
  })

  it('finds calls by a number, and says why nobody got an event', async ({ world, page, open }) => {
    const event = { accountId: 'beta', callId: 'leg-1', callerIdNumber: '+49 30 98765432' }
    const settings = { name: 'Hangups', uri: 'https://b.example/', hook: 'channel_destroy' }
    await world.hs.webhooks.create('beta', settings)
    await world.hs.publish({ ...event, hook: 'channel_dtmf' }, { source: 'asterisk \u202E10.0.0.1' })
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    const search = async (text: string) => {
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await open('webhooks')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await search('004930 98765432')
    const row = page.getByRole('row').filter({ hasText: 'asterisk \\u{202E}10.0.0.1' })
    await row.getByText('No webhook wanted it.').waitFor()
    await row.getByText('Hangups: It does not listen to this event.').waitFor()
    expect(await page.getByRole('link', { name: 'leg-1' }).getAttribute('href')).toBe('#/beta/calls/leg-1')
    await expectFit(page)
    // A number in an address would be logged on its way; what follows the hash never leaves the browser.
    for (const url of urls) expect(url.split('#')[0]).not.toContain('98765432')
    await page.goto(`${world.url}#/acme/search?q=leg-1`)
    await page.getByRole('heading', { name: 'leg-1' }).waitFor()
    await row.getByText('No webhook wanted it.').waitFor()
  })

  it('has a menu that closes on Escape and on a click elsewhere, and remembers what is chosen', async ({
    page,
    open,
  }) => {
    const local = page.getByRole('button', { name: 'Local time' })
    await open('webhooks')
    await openMenu(page)
    await local.waitFor()
    await expectFit(page)
    await page.keyboard.press('Escape')
    await local.waitFor({ state: 'hidden' })
    await expect.poll(() => focused(page)).toContain('avatar')
    await openMenu(page)
    await page.getByRole('heading', { level: 1 }).click()
    await local.waitFor({ state: 'hidden' })
    await openMenu(page)
    await page.getByRole('button', { name: 'Dark', exact: true }).click()
    await page.getByRole('button', { name: 'Deutsch' }).click()
    await page.getByRole('button', { name: 'Dunkel', pressed: true }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Hell oder dunkel' }).waitFor()
    expect(
      await page.evaluate('[document.documentElement.lang, document.documentElement.dataset.theme]'),
    ).toEqual(['de', 'dark'])
    await page.getByRole('button', { name: 'Hell oder dunkel' }).click()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light')
  })

  it('asks before what is typed goes: by a link, by the history, by signing out', async ({ page, open }) => {
    await open('webhooks')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await open('webhooks/new')
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Half written')
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    const leaveBy = {
      link: () => page.getByRole('link', { name: 'Live' }).click(),
      history: () => page.goBack(),
      signOut: () => signOut(page),
    }
    for (const leave of Object.values(leaveBy)) {
      await leave()
      await question.waitFor()
      await question.getByRole('button', { name: 'Stay' }).click()
      await question.waitFor({ state: 'detached' })
      expect(page.url()).toContain('#/acme/webhooks/new')
      expect(await name.inputValue()).toBe('Half written')
    }
    await leaveBy.link()
    await expectFit(page)
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Live' }).waitFor()
    // Nothing is typed any more.
    await page.getByRole('navigation').getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  })

  it('explains its shortcuts, and gives the focus back', async ({ page, open }) => {
    await open('webhooks')
    await openMenu(page)
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    await expectFit(page)
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toContain('avatar')
  })

  it('skips to the heading, and says where an address leads nowhere', async ({ page, open }) => {
    await open('webhooks')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toContain('<h1')
    await open('nowhere/at/all')
    await page.getByText('This address leads nowhere.').waitFor()
    await expectFit(page)
    await page.getByRole('main').getByRole('link', { name: 'To the webhooks' }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await expect.poll(() => focused(page)).toContain('<h1')
  })
})
