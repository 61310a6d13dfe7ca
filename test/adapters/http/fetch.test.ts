import { Hono } from 'hono'
import { type HttpService, MAX_BODY_BYTES, type RequestRecord } from 'hookswitch/adapter'
import { fetchHandler } from 'hookswitch/fetch'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { echoService } from './echo.js'

const records: RequestRecord[] = []
const service: HttpService = {
  ...echoService(true),
  handle: (record) => {
    records.push(record)
    return echoService(true).handle(record)
  },
}
beforeEach(() => {
  records.length = 0
})

const put = (url: string, body: string | ReadableStream<Uint8Array>) =>
  new Request(url, { method: 'PUT', body, duplex: 'half' } as RequestInit)

describe('fetchHandler', () => {
  it('returns status, headers and body', async () => {
    const response = await fetchHandler(service)(put('http://h/v2/x?y=1', '{"data":{}}'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ method: 'PUT', url: '/v2/x?y=1', mountPrefix: '' })
  })

  it('rejects headers above 16 KiB', async () => {
    const request = (bytes: number) =>
      new Request('http://h/v2/x', { headers: { 'x-big': 'x'.repeat(bytes) } })
    const response = await fetchHandler(service)(request(17_000))
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([431, '431'])
    expect(records).toEqual([])
    expect((await fetchHandler(service)(request(16_000))).status).toBe(200)
  })

  it('passes paths outside the API to the service', async () => {
    expect((await fetchHandler(service)(new Request('http://h/elsewhere'))).status).toBe(404)
  })

  it.each([204, 304])('returns %i without a body', async (status) => {
    const handle = async () => ({ status, headers: { etag: '"1"' }, body: '' })
    const response = await fetchHandler({ handlesPath: () => true, handle })(new Request('http://h/v2/x'))
    expect(response.status).toBe(status)
    expect(response.body).toBe(null)
  })

  it('uses the given peer address and mount point', async () => {
    await fetchHandler(service)(new Request('http://h/telephony/v2/x'), {
      remoteAddress: '203.0.113.9',
      mountPrefix: '/telephony',
    })
    expect(records[0]).toMatchObject({
      remoteAddress: '203.0.113.9',
      mountPrefix: '/telephony',
      url: '/v2/x',
    })
  })

  it.each([
    ['/telephony', '/v2/x', '/v2/x'],
    ['/telephony', '/telephonyv2/x', '/telephonyv2/x'],
    ['/v2', '/v2/v2/x', '/v2/x'],
    ['/v2', '/v2/x', '/v2/x'],
  ])('with the mount point %s, converts the path %s to %s', async (mountPrefix, path, url) => {
    await fetchHandler(service)(new Request(`http://h${path}`), { mountPrefix })
    expect(records[0]!.url).toBe(url)
  })

  it('stops reading a streaming body at the limit and cancels its source', async () => {
    let pulled = 0
    let cancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1
        controller.enqueue(new Uint8Array(65_536))
      },
      cancel: () => {
        cancelled = true
      },
    })
    const response = await fetchHandler(service)(put('http://h/v2/x', endless))
    expect(response.status).toBe(413)
    expect(records[0]).toMatchObject({ bodyProblem: 'too_large' })
    expect(cancelled).toBe(true)
    expect(pulled * 65_536).toBeLessThan(2 * MAX_BODY_BYTES)
  })

  it('does not read a body whose declared length is too large', async () => {
    const untouched = new ReadableStream<Uint8Array>(
      { pull: () => expect.unreachable('was read') },
      { highWaterMark: 0 },
    )
    const request = put('http://h/v2/x', untouched)
    request.headers.set('content-length', String(MAX_BODY_BYTES + 1))
    expect((await fetchHandler(service)(request)).status).toBe(413)
  })

  it('responds with 408 to a body that is incomplete after 30 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const stalled = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(3)),
      })
      const response = fetchHandler(service)(put('http://h/v2/x', stalled))
      await vi.advanceTimersByTimeAsync(29_999)
      expect(records).toEqual([])
      await vi.advanceTimersByTimeAsync(1)
      expect((await response).status).toBe(408)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
    expect(records[0]).toMatchObject({ bodyProblem: 'too_slow' })
  })

  it('responds with 400 to an aborted body without calling the service', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    })
    const response = await fetchHandler({ ...service, node: 'n1' })(put('http://h/v2/x', broken))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ message: 'bad_request', node: 'n1' })
    expect(records).toEqual([])
  })

  it('rejects a request whose body the host has already read', async () => {
    const request = put('http://h/v2/x', '{}')
    await request.text()
    await expect(fetchHandler(service)(request)).rejects.toThrow(
      expect.objectContaining({ code: 'InvalidInput' }),
    )
  })

  it('responds with 500 and no details if the service rejects', async () => {
    const failing: HttpService = {
      handlesPath: () => true,
      handle: () => Promise.reject(new Error('secret')),
    }
    const response = await fetchHandler(failing)(new Request('http://h/v2/x'))
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
  })
})

describe('fetchHandler in Hono', () => {
  it('works with app.mount, which removes the prefix and passes its bindings', async () => {
    const app = new Hono().mount('/telephony', fetchHandler(service))
    const response = await app.fetch(put('http://h/telephony/v2/x', '{"data":{}}'), { remoteAddress: 7 })
    expect(response.status).toBe(200)
    expect(records[0]).toMatchObject({ url: '/v2/x' })
    expect(records[0]).not.toHaveProperty('remoteAddress')
  })

  it('works with app.all beside routes of the host', async () => {
    const handler = fetchHandler(service)
    const app = new Hono().get('/mine', (c) => c.text('mine')).all('/v2/*', (c) => handler(c.req.raw))
    expect(await (await app.request('/mine')).text()).toBe('mine')
    expect((await app.request('/v2/x', { method: 'HEAD' })).status).toBe(200)
    expect(records[0]).toMatchObject({ method: 'HEAD' })
  })
})
