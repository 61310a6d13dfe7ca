import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, expectRefusals, launch, logIn, newPage, storedSession } from './browser.js'
import { PASSWORD, startWorld, type World } from './world.js'

describe.skipIf(CHROMIUM === undefined)('the session of the page', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await startWorld()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('begins with an API key, and its token is in no address and no cookie', async () => {
    const { page, context, reports } = await newPage(browser)
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
    expect(reports.problems).toEqual([])
    await context.close()
  })

  it('begins with user, password and realm; of a wrong login the form says no more than that', async () => {
    const { page, context } = await newPage(browser)
    const logins: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/user_auth')) logins.push(request.postData() ?? '')
    })
    await page.goto(world.url)
    await page.getByLabel('User and password').check()
    await page.getByLabel('User name').fill('alice')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByLabel('Realm').fill('acme.example')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('The login is wrong.').waitFor()
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
    await context.close()
  })

  it('is that of every tab, and ends in all of them', async () => {
    const { page, context } = await newPage(browser)
    await logIn(page, world.url, world.apiKey)
    const { token } = await storedSession(page)
    const second = await context.newPage()
    await second.goto(`${world.url}#/acme/webhooks/${world.goodId}/attempts`)
    await second.getByRole('heading', { name: 'Dashboard' }).waitFor()
    await second.getByText('Menu').click()
    await second.getByRole('button', { name: 'Sign out' }).click()
    await second.getByRole('heading', { name: 'Sign in to hookswitch' }).waitFor()
    await page.getByRole('heading', { name: 'Sign in to hookswitch' }).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await expect
      .poll(() => world.hs.auth.authenticate(token).catch((error) => error.code))
      .toBe('InvalidCredentials')
    await context.close()
  })

  it('leaves the account of the address where the next user may not see it', async () => {
    const { page, context, reports } = await newPage(browser)
    await logIn(page, world.url, world.betaKey)
    await page.goto(`${world.url}#/beta/webhooks`)
    await page.getByText('This account has no webhooks yet.').waitFor()
    await page.getByRole('link', { name: 'Operator' }).waitFor({ state: 'detached' })
    // An account that is no operator causes no refused request.
    expect(reports.problems).toEqual([])
    // Acme is an operator and sees Beta; its user without admin rights does not.
    await page.getByText('Menu').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('User and password').check()
    await page.getByLabel('User name').fill('bob')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Realm').fill('acme.example')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Dashboard').waitFor()
    expect(page.url()).toContain('#/acme/webhooks')
    await context.close()
  })

  it('survives its token: a dialog opens over the page, and what was typed stays', async () => {
    const { page, context, reports } = await newPage(browser)
    await logIn(page, world.url, world.apiKey)
    await page.goto(`${world.url}#/acme/webhooks/new`)
    await page.getByLabel('Name').fill('Half written')
    const { token } = await storedSession(page)
    await world.hs.auth.signOut(token)
    await page.getByLabel('URL').fill('http://127.0.0.1:9/x')
    await page.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('API key').last().fill(world.apiKey)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Half written')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Half written' }).waitFor()
    expectRefusals(reports, 401)
    expect(reports.problems).toEqual([])
    await context.close()
  })
})

describe.skipIf(CHROMIUM === undefined)('the login of the host', () => {
  it('is that of the page: no form, and an invitation where it has ended', async () => {
    let key: string | undefined
    const world = await startWorld({
      session: ({ cookie }) =>
        cookie === 'sid=1' && key !== undefined ? world.hs.auth.signIn({ apiKey: key }) : undefined,
    })
    key = world.apiKey
    const browser = await launch()
    try {
      const { page, context, reports } = await newPage(browser)
      await page.goto(world.url)
      await page.getByText('You are not signed in, or your session has ended.').waitFor()
      expectRefusals(reports, 401)
      expect(await page.getByRole('textbox').count()).toBe(0)
      await context.addCookies([{ name: 'sid', value: '1', url: world.url }])
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
      expect(reports.problems).toEqual([])
    } finally {
      await browser.close()
      await world.close()
    }
  })
})
