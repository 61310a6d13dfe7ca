import { rmSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { RequestRecord, ResponseRecord } from 'hookswitch/adapter'
import { portal } from 'hookswitch/portal'
import { afterAll, describe, expect, it } from 'vitest'
import { checkPortalOptions, type PortalOptions } from '../../../adapters/portal/options.js'
import { createPortalService } from '../../../adapters/portal/service.js'
import { builtPage, SCRIPT } from './pages.js'

const folder = builtPage()
afterAll(() => rmSync(folder, { recursive: true }))

const pageOf = (options: PortalOptions = {}) => createPortalService(checkPortalOptions(options), folder)

function get(
  url: string,
  headers: RequestRecord['headers'] = {},
  options: PortalOptions = {},
  method = 'GET',
): Promise<ResponseRecord> {
  return pageOf(options).handle({ method, url, headers })
}

const textOf = ({ body, bytes }: ResponseRecord) => (bytes ? Buffer.from(bytes).toString() : body)

describe('the page', () => {
  it('owns its path and what is below it', () => {
    const { handlesPath, rootPaths } = pageOf()
    expect(rootPaths).toEqual(['/portal'])
    for (const url of ['/portal', '/portal/', '/portal?a=1', '/portal/assets/x.js?b#c']) {
      expect(handlesPath(url), url).toBe(true)
    }
    for (const url of ['/', '/portals', '/v1/portal', '/portal%2f', '/Portal/', '']) {
      expect(handlesPath(url), url).toBe(false)
    }
  })

  it('redirects to the same path with a slash, relative so that it holds behind every prefix', async () => {
    const response = await get('/portal?x=//evil.example')
    expect([response.status, response.headers.location]).toEqual([308, 'portal/'])
    const deep = await get('/ui/hooks', {}, { path: '/ui/hooks' })
    expect(deep.headers.location).toBe('hooks/')
  })

  it('is checked on every visit, and names the API in an escaped element', async () => {
    const response = await get('/portal/', {}, { api: 'https://api.example/x"><script>/' })
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.headers['cache-control']).toBe('no-cache')
    expect(textOf(response)).toContain('content="https://api.example/x&quot;&gt;&lt;script&gt;/"')
    expect(textOf(response)).not.toContain('<script>')
    const again = await get('/portal/', { 'if-none-match': `"other", W/${response.headers.etag}` })
    expect(again.status).toBe(200)
    const same = await get('/portal/')
    const unchanged = await get('/portal/', { 'if-none-match': `"other", W/${same.headers.etag}` })
    expect([unchanged.status, textOf(unchanged)]).toEqual([304, ''])
  })

  it('serves assets for a year, compressed as the client accepts', async () => {
    const url = '/portal/assets/index-Ab12.js'
    const plain = await get(url)
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(SCRIPT.length),
      vary: 'accept-encoding',
    })
    expect(textOf(plain)).toBe(SCRIPT)
    const br = await get(url, { 'accept-encoding': 'gzip, deflate, br;q=0.5' })
    expect(br.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(br.bytes!).toString()).toBe(SCRIPT)
    const gzip = await get(url, { 'accept-encoding': 'br;q=0, GZIP' })
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzip.bytes!).toString()).toBe(SCRIPT)
    expect(Number(gzip.headers['content-length'])).toBe(gzip.bytes!.length)
  })

  it('answers HEAD without a body and other methods with 405', async () => {
    const head = await get('/portal/', {}, {}, 'HEAD')
    expect([head.status, head.body, head.bytes]).toEqual([200, '', undefined])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0)
    const post = await get('/portal/', {}, {}, 'POST')
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('serves no file but those of the page', async () => {
    const paths = [
      'index.html',
      'assets/notes.txt',
      'assets/index-Ab12.js.gz',
      '../package.json',
      'assets/..%2findex.html',
      '%2e%2e/secrets',
      '/etc/passwd',
      'assets/',
      '__proto__',
      'constructor',
    ]
    for (const path of paths) expect((await get(`/portal/${path}`)).status, path).toBe(404)
    expect((await get('/v1/webhooks')).status).toBe(404)
  })

  it('sends the security headers with every response', async () => {
    for (const url of ['/portal', '/portal/', '/portal/assets/index-Ab12.js', '/portal/none']) {
      const { headers } = await get(url)
      expect(headers['content-security-policy'], url).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'; trusted-types 'none'",
      )
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      })
    }
  })

  it('permits the origin of an API elsewhere, and frames of the named origins', async () => {
    const options = { api: 'https://api.example:8443/hooks/', frameAncestors: ['https://app.example'] }
    const { headers } = await get('/portal/', {}, options)
    expect(headers['content-security-policy']).toContain("connect-src 'self' https://api.example:8443;")
    expect(headers['content-security-policy']).toContain('frame-ancestors https://app.example;')
  })

  it('says so where it was not built', async () => {
    const { handle } = createPortalService(checkPortalOptions({}), '/nowhere')
    const response = await handle({ method: 'GET', url: '/portal/', headers: {} })
    expect(response.status).toBe(503)
    expect(response.body).not.toContain('nowhere')
  })
})

describe('the brand of the host', () => {
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])
  const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
  const metaOf = (html: string, name: string) =>
    new RegExp(`name="hookswitch-${name}" content="([^"]*)"`).exec(html)?.[1]

  it('is in the page, escaped', async () => {
    const options = {
      title: `A&B </title><script>"'`,
      language: 'de',
      helpUrl: 'https://help.example/?a="><script>',
      colorScheme: 'dark',
    } as const
    const html = textOf(await get('/portal/', {}, options))
    expect(html).toContain("<title>A&amp;B &lt;/title&gt;&lt;script&gt;&quot;'</title>")
    expect(metaOf(html, 'title')).toBe("A&amp;B &lt;/title&gt;&lt;script&gt;&quot;'")
    expect(metaOf(html, 'help-url')).toBe('https://help.example/?a=&quot;&gt;&lt;script&gt;')
    expect([metaOf(html, 'language'), metaOf(html, 'color-scheme'), metaOf(html, 'logo')]).toEqual([
      'de',
      'dark',
      '',
    ])
    expect(html).not.toContain('<script>')
    expect(html).toContain('<html lang="de" data-theme="dark">')
  })

  it('has defaults that name no product', async () => {
    const html = textOf(await get('/portal/'))
    expect(html).toContain('<html lang="en">')
    expect(html).toContain('<title>Webhooks</title>')
    expect(['title', 'language', 'help-url', 'color-scheme'].map((name) => metaOf(html, name))).toEqual([
      'Webhooks',
      'auto',
      '',
      'auto',
    ])
  })

  it('links the accent as a file that changes its URL with its content', async () => {
    const hrefOf = async (accent: string) =>
      /<link rel="stylesheet" href="([^"]+)">/.exec(textOf(await get('/portal/', {}, { accent })))![1]!
    const href = await hrefOf('#0a7d55')
    expect(href).not.toBe(await hrefOf('#0a7d56'))
    const response = await get(`/portal/${href}`, {}, { accent: '#0a7d55' })
    expect(response.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect(textOf(response)).toContain('--accent: light-dark(#006c48, #68c79b);')
  })

  it.each([
    ['SVG', Buffer.from(SVG), 'logo.svg', 'image/svg+xml'],
    ['PNG', PNG, 'logo.png', 'image/png'],
  ])(
    'serves a logo with a policy that forbids scripts and everything elsewhere: %s',
    async (_, logo, name, type) => {
      const page = pageOf({ logo })
      const fetched = (url: string) => page.handle({ method: 'GET', url, headers: {} })
      const url = metaOf(textOf(await fetched('/portal/')), 'logo')!
      expect(url.split('?')[0]).toBe(name)
      const response = await fetched(`/portal/${url}`)
      expect(response.headers).toMatchObject({
        'content-type': type,
        'content-security-policy': LOGO_POLICY,
        'x-content-type-options': 'nosniff',
      })
      expect(Buffer.from(response.bytes!)).toEqual(logo)
    },
  )

  it('reads a logo from a file, once', async () => {
    const path = join(folder, '..', `logo-of-${process.pid}.svg`)
    writeFileSync(path, SVG)
    const page = pageOf({ logo: path })
    rmSync(path)
    const response = await page.handle({ method: 'GET', url: '/portal/logo.svg', headers: {} })
    expect(textOf(response)).toBe(SVG)
  })

  it.each([
    ['a missing file', '/nowhere/logo.svg', 'logo cannot be read (there is no such file)'],
    ['a folder', tmpdir(), 'logo cannot be read (it is no file)'],
    ['a device, which may have no end', devNull, 'logo cannot be read (it is no file)'],
    [
      'a picture that is too large',
      Buffer.concat([PNG, Buffer.alloc(65_536)]),
      'logo must have at most 64 KiB',
    ],
    ['HTML', Buffer.from('<!DOCTYPE html><script>'), 'logo must be an SVG or PNG file'],
    ['a GIF', Buffer.from('GIF89a'), 'logo must be an SVG or PNG file'],
    ['nothing', Buffer.alloc(0), 'logo must be an SVG or PNG file'],
    ['no UTF-8', Buffer.from([0x3c, 0x73, 0x76, 0x67, 0xff]), 'logo must be an SVG or PNG file'],
    ['an unfinished comment', Buffer.from('<!-- <svg '), 'logo must be an SVG or PNG file'],
    [
      'entities',
      Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>'),
      'logo must be an SVG without entities',
    ],
  ])('refuses %s as a logo', (_, logo, message) => {
    expect(() => pageOf({ logo })).toThrow(
      expect.objectContaining({ code: 'InvalidOption', field: 'logo', message }),
    )
  })

  it('takes an SVG with a declaration, a comment and a document type', () => {
    const logo = Buffer.from(`\ufeff<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg PUBLIC "a" "b">\n${SVG}`)
    expect(() => pageOf({ logo })).not.toThrow()
  })
})

describe('the session of the host', () => {
  const OWN = { 'sec-fetch-site': 'same-origin', 'x-hookswitch-portal': '1' }
  const session = (headers: RequestRecord['headers']) =>
    headers.cookie === 'sid=1' ? { token: 'secret-token', account: { id: 'acme' } } : undefined

  it('gives the page the token of a user who is signed in', async () => {
    const response = await get('/portal/session', { ...OWN, cookie: 'sid=1' }, { session })
    expect(response.status).toBe(200)
    expect(JSON.parse(response.body)).toEqual({ token: 'secret-token', accountId: 'acme' })
    expect(response.headers['cache-control']).toBe('no-store')
  })

  it('gives it to no other page', async () => {
    const foreign = [
      { ...OWN, 'sec-fetch-site': 'cross-site' },
      { ...OWN, 'sec-fetch-site': 'same-site' },
      { ...OWN, 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin' },
      {},
    ]
    for (const headers of foreign) {
      const response = await get('/portal/session', { ...headers, cookie: 'sid=1' }, { session })
      expect([response.status, response.body.includes('secret')]).toEqual([403, false])
    }
  })

  it('accepts the header alone where browsers send no sec-fetch-site: on plain HTTP', async () => {
    const response = await get(
      '/portal/session',
      { 'x-hookswitch-portal': '1', cookie: 'sid=1' },
      { session },
    )
    expect(response.status).toBe(200)
  })

  it('answers 401 to others, and 500 without details where the function fails', async () => {
    expect((await get('/portal/session', OWN, { session })).status).toBe(401)
    const failing = () => Promise.reject(new Error('password=hunter2'))
    const response = await get('/portal/session', OWN, { session: failing })
    expect([response.status, response.body.includes('hunter2')]).toEqual([500, false])
  })

  it('does not exist without the option', async () => {
    expect((await get('/portal/session', OWN)).status).toBe(404)
    expect(textOf(await get('/portal/'))).toContain('name="hookswitch-session" content=""')
    expect(textOf(await get('/portal/', {}, { session }))).toContain('content="host"')
  })
})

describe('the options', () => {
  it('are checked, and the error names the option', () => {
    const wrong: readonly (readonly [string, unknown])[] = [
      ['path', { path: 'portal' }],
      ['path', { path: '/' }],
      ['path', { path: '/portal/' }],
      ['path', { path: '/a/../b' }],
      ['path', { path: '/v1/portal' }],
      ['api', { api: 'ftp://x' }],
      ['api', { api: 'https://user:pass@x/' }],
      ['api', { api: '../?token=1' }],
      ['frameAncestors', { frameAncestors: 'https://app.example' }],
      ['frameAncestors', { frameAncestors: ["https://a.example; script-src 'unsafe-inline'"] }],
      ['frameAncestors', { frameAncestors: ['https://a.example/path'] }],
      ['session', { session: 'cookie' }],
      ['title', { title: '' }],
      ['title', { title: ' ' }],
      ['title', { title: 'a'.repeat(61) }],
      ['title', { title: 'a\nb' }],
      ['title', { title: 'a\u202eb' }],
      ['title', { title: 5 }],
      ['logo', { logo: '' }],
      ['logo', { logo: {} }],
      ['accent', { accent: 'red' }],
      ['accent', { accent: '#12345' }],
      ['accent', { accent: '#fff;}body{display:none' }],
      ['language', { language: 'fr' }],
      ['helpUrl', { helpUrl: 'javascript:alert(1)' }],
      ['helpUrl', { helpUrl: 'https://' }],
      ['helpUrl', { helpUrl: '/help' }],
      ['colorScheme', { colorScheme: 'blue' }],
      ['sesion', { sesion: () => undefined }],
    ]
    for (const [field, options] of wrong) {
      expect(() => portal(options as PortalOptions), JSON.stringify(options)).toThrow(
        expect.objectContaining({ code: 'InvalidOption', field }),
      )
    }
    expect(() => portal({ sesion: 1 } as PortalOptions)).toThrow("did you mean 'session'?")
  })
})
