import { rmSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { checkPortalOptions } from '../../../adapters/portal/options.js'
import { createPortalService } from '../../../adapters/portal/service.js'
import { SERVERS, type ServerName } from '../http/servers.js'
import { builtPage, SCRIPT } from './pages.js'

const folder = builtPage()
afterAll(() => rmSync(folder, { recursive: true }))
const page = createPortalService(checkPortalOptions({}), folder)

describe.each(Object.keys(SERVERS) as ServerName[])('the page through %s', (name) => {
  it.each(['', '/telephony'])('is served below the prefix "%s"', async (prefix) => {
    const server = await SERVERS[name](page, prefix)
    try {
      const base = `http://127.0.0.1:${server.port}${prefix}`
      const redirect = await fetch(`${base}/portal`, { redirect: 'manual' })
      expect(redirect.status).toBe(308)
      expect(new URL(redirect.headers.get('location')!, `${base}/portal`).href).toBe(`${base}/portal/`)

      const script = await fetch(`${base}/portal/assets/index-Ab12.js`, {
        headers: { 'accept-encoding': 'identity' },
      })
      expect([script.status, await script.text()]).toEqual([200, SCRIPT])
      expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')

      const compressed = await fetch(`${base}/portal/assets/index-Ab12.js`, {
        headers: { 'accept-encoding': 'gzip' },
      })
      expect(compressed.headers.get('content-encoding')).toBe('gzip')
      expect(await compressed.text()).toBe(SCRIPT)

      const etag = script.headers.get('etag')!
      const unchanged = await fetch(`${base}/portal/assets/index-Ab12.js`, {
        headers: { 'if-none-match': etag, 'accept-encoding': 'identity' },
      })
      expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])

      const head = await fetch(`${base}/portal/`, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect(head.headers.get('content-security-policy')).toContain("default-src 'none'")
    } finally {
      await server.close()
    }
  })
})

describe('bytes of a body', () => {
  it('are sent as they are', async () => {
    const server = await SERVERS.node(page, '')
    try {
      const { default: http } = await import('node:http')
      const bytes = await new Promise<Buffer>((resolve, reject) => {
        const options = { port: server.port, path: '/portal/assets/index-Ab12.js' }
        http
          .get({ ...options, headers: { 'accept-encoding': 'gzip' } }, (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk: Buffer) => chunks.push(chunk))
            response.on('end', () => resolve(Buffer.concat(chunks)))
          })
          .on('error', reject)
      })
      expect(gunzipSync(bytes).toString()).toBe(SCRIPT)
    } finally {
      await server.close()
    }
  })
})
