import { describe, expect } from 'vitest'
import {
  CHROMIUM,
  expectRefusals,
  fillApiKey,
  logIn,
  logInAsUser,
  signOut,
  storedSession,
} from './browser.js'
import { pageTest as it } from './page-test.js'
import { PASSWORD, startWorld } from './world.js'

describe.skipIf(CHROMIUM === undefined)('the session of the page', () => {
  it('begins with an API key, and its token is in no address and no cookie', async ({
    world,
    page,
    context,
  }) => {
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await logIn(page, world.url, world.apiKey)
    await page.getByText('Dashboard').waitFor()
    const { token } = await storedSession(page)
    expect(token.length).toBeGreaterThan(20)
    expect([...urls, page.url()].filter((url) => url.includes(token) || url.includes(world.apiKey))).toEqual(
      [],
    )
    expect(await context.cookies()).toEqual([])
    expect(await page.evaluate<string>('Object.values(localStorage).join()')).not.toContain(token)
  })

  it('begins with user, password and realm; of a wrong login the form says no more than that', async ({
    world,
    page,
    reports,
  }) => {
    const logins: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/user_auth')) logins.push(request.postData() ?? '')
    })
    await page.goto(world.url)
    await logInAsUser(page, 'alice', 'wrong')
    await page.getByRole('alert').getByText('This login is not right.').waitFor()
    expectRefusals(reports, 401)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    expect(JSON.parse(logins[1]!)).toEqual({
      data: {
        credentials: expect.stringMatching(/^[0-9a-f]{40}$/),
        account_realm: 'acme.example',
        method: 'sha',
      },
    })
    expect(logins.join()).not.toContain(PASSWORD)
  })

  it('is that of every tab, and ends in all of them', async ({ world, page, context }) => {
    await logIn(page, world.url, world.apiKey)
    const { token } = await storedSession(page)
    const second = await context.newPage()
    await second.goto(`${world.url}#/acme/webhooks/${world.goodId}/attempts`)
    await second.getByRole('heading', { name: 'Dashboard' }).waitFor()
    await signOut(second)
    await second.getByRole('heading', { name: 'Sign in to webhooks' }).waitFor()
    await page.getByRole('heading', { name: 'Sign in to webhooks' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await expect
      .poll(() => world.hs.auth.authenticate(token).catch((error) => error.code))
      .toBe('InvalidCredentials')
  })

  it('leaves no webhook behind that was made for a test, when the user signs out', async ({
    world,
    page,
    open,
  }) => {
    await logIn(page, world.url, world.apiKey)
    await open('webhooks/new')
    await page.getByLabel('Name').fill('Draft')
    const { uri } = await world.hs.webhooks.read('acme', world.goodId)
    await page.getByLabel('Address of your server').fill(uri)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('Your server answered 204 within').waitFor()
    const drafts = async () => {
      const webhooks = await world.hs.webhooks.list('acme')
      return webhooks.filter(({ name }) => name === 'Draft').length
    }
    expect(await drafts()).toBe(1)
    const { token } = await storedSession(page)
    await signOut(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Sign in to webhooks' }).waitFor()
    await expect.poll(drafts).toBe(0)
    await expect
      .poll(() => world.hs.auth.authenticate(token).catch((error) => error.code))
      .toBe('InvalidCredentials')
  })

  it('shows nothing that changes something until the service has said that the user may', async ({
    world,
    page,
    open,
  }) => {
    let answerNow = () => {}
    const held = new Promise<void>((resolve) => {
      answerNow = resolve
    })
    await page.route('**/token_auth', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(world.url)
    await logInAsUser(page, 'alice', PASSWORD)
    await page.getByText('Dashboard').waitFor()
    const changes = page.getByRole('link', { name: 'New webhook' })
    expect(await changes.count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Test now' }).count()).toBe(0)
    await open('webhooks/new')
    await page.getByLabel('Name').waitFor()
    expect(await page.getByRole('button', { name: 'Create webhook' }).isDisabled()).toBe(true)
    expect(await page.getByText('Your user may read, not change.').count()).toBe(0)
    answerNow()
    await expect.poll(() => page.getByRole('button', { name: 'Create webhook' }).isEnabled()).toBe(true)
    await open('webhooks')
    await changes.waitFor()
  })

  it('leaves the account of the address where the next user may not see it', async ({
    world,
    page,
    reports,
  }) => {
    await logIn(page, world.url, world.betaKey)
    await page.goto(`${world.url}#/beta/webhooks`)
    await page.getByRole('heading', { name: 'Let your systems know about every call' }).waitFor()
    await page.getByRole('link', { name: 'Service' }).waitFor({ state: 'detached' })
    // An account that is no operator causes no refused request.
    expect(reports.problems).toEqual([])
    // Acme is an operator and sees Beta; its user without admin rights does not.
    await signOut(page)
    await logInAsUser(page, 'bob', PASSWORD)
    await page.getByText('Dashboard').waitFor()
    expect(page.url()).toContain('#/acme/webhooks')
    expectRefusals(reports, 403)
  })

  it('keeps the name of the account on the screen when its token is replaced', async ({
    world,
    page,
    reports,
  }) => {
    await logIn(page, world.url, world.apiKey)
    await page.goto(`${world.url}#/branch/live`)
    await page.getByRole('button', { name: 'Account: Acme Branch' }).waitFor()
    await world.hs.auth.signOut((await storedSession(page)).token)
    await page.reload()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await fillApiKey(dialog, world.apiKey)
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Account: Acme Branch' }).waitFor()
    expectRefusals(reports, 401)
  })

  it('survives its token: a dialog opens over the page, and what was typed stays', async ({
    world,
    page,
    reports,
    open,
  }) => {
    await logIn(page, world.url, world.apiKey)
    await open('webhooks/new')
    const { uri } = await world.hs.webhooks.read('acme', world.goodId)
    await page.getByLabel('Address of your server').fill(uri)
    await page.getByLabel('Name').fill('Half written')
    // The check of the address would open the dialog before the button is clicked.
    await page.getByText('It is not encrypted').waitFor()
    const { token } = await storedSession(page)
    await world.hs.auth.signOut(token)
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await fillApiKey(dialog, world.apiKey)
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Half written')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('heading', { name: 'Half written' }).waitFor()
    expectRefusals(reports, 401)
  })
})

describe.skipIf(CHROMIUM === undefined)('the login of the host', () => {
  it('is that of the page: no form, its rights and brand, and an invitation where it has ended', async ({
    page,
    context,
    reports,
  }) => {
    const world = await startWorld({
      title: 'Acme Cloud',
      accent: '#0a7d55',
      session: ({ cookie }) =>
        cookie === 'sid=1'
          ? world.hs.auth.issue({ accountId: 'acme', role: 'read', ttlSeconds: 600 })
          : undefined,
    })
    try {
      await page.goto(world.url)
      await page.getByText('You are not signed in, or your session has ended.').waitFor()
      expectRefusals(reports, 401)
      expect(await page.getByRole('textbox').count()).toBe(0)
      await context.addCookies([{ name: 'sid', value: '1', url: world.url }])
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
      await page.getByText('Dashboard').waitFor()
      expect(await page.title()).toBe('Webhooks · Acme Cloud')
      expect(
        await page.evaluate<string>(
          "getComputedStyle(document.documentElement).getPropertyValue('--accent')",
        ),
      ).toContain('#006c48')
      expect(await page.getByRole('link', { name: 'New webhook' }).count()).toBe(0)

      // Its token ends, the login of the host does not.
      const { token } = await storedSession(page)
      await world.hs.auth.signOut(token)
      await page.goto(`${world.url}#/acme/webhooks/${world.goodId}`)
      await expect.poll(async () => (await storedSession(page)).token).not.toBe(token)
      await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
      await page.getByRole('dialog').waitFor({ state: 'detached' })

      // Whoever opens the page after the user has left the host gets nothing of the last session.
      await context.clearCookies()
      await page.reload()
      await page.getByText('You are not signed in, or your session has ended.').waitFor()
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      expectRefusals(reports, 401)
    } finally {
      await page.close()
      await world.close()
    }
  })
})
