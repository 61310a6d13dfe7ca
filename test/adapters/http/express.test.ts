import http from 'node:http'
import { gzipSync } from 'node:zlib'
import express5 from 'express'
import express4 from 'express4'
import type { HttpService, RequestRecord } from 'hookswitch/adapter'
import { expressMiddleware } from 'hookswitch/express'
import { describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { sendRaw } from './raw.js'
import { useServers } from './server-setup.js'

const start = useServers()

const DOCUMENT = '{"data":{"a":1}}'
const put = (target: string, type = 'application/json', body = DOCUMENT) =>
  `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

describe.each([
  ['Express 4', express4],
  ['Express 5', express5],
])('expressMiddleware in %s', (_version, express) => {
  const records: RequestRecord[] = []
  const service: HttpService = {
    ...echoService(true),
    handle: (record) => {
      records.push(record)
      return echoService(true).handle(record)
    },
  }
  const exchange = async (app: ReturnType<typeof express5>, bytes: string | Uint8Array) => {
    const port = await start(http.createServer(app))
    records.length = 0
    const response = await sendRaw(port, bytes)
    return { ...response, record: records[0] }
  }

  it('uses the body that an earlier JSON parser produced', async () => {
    const { record } = await exchange(express().use(express.json(), expressMiddleware(service)), put('/v2/x'))
    expect(record).toMatchObject({ parsedBody: { data: { a: 1 } } })
    expect(record).not.toHaveProperty('body')
  })

  it('takes a body that an earlier parser has decompressed for what it is', async () => {
    const bytes = gzipSync(DOCUMENT)
    const head = put('/v2/x', 'application/json', '').replace(
      'Content-Length: 0',
      `Content-Encoding: gzip\r\nContent-Length: ${bytes.length}`,
    )
    const app = express().use(express.raw({ type: '*/*' }), expressMiddleware(service))
    const { record } = await exchange(app, Buffer.concat([Buffer.from(head), bytes]))
    expect(String(record!.body)).toBe(DOCUMENT)
    expect(record!.headers).not.toHaveProperty('content-encoding')
    const unread = await exchange(
      express().use(expressMiddleware(service)),
      Buffer.concat([Buffer.from(head), bytes]),
    )
    expect(unread.record!.headers).toMatchObject({ 'content-encoding': 'gzip' })
  })

  it('reads a body that earlier parsers did not read', async () => {
    const app = express().use(
      express.json(),
      express.urlencoded({ extended: true }),
      expressMiddleware(service),
    )
    const { record } = await exchange(app, put('/v2/x', 'application/x-json'))
    expect(Buffer.from(record!.body!).toString()).toBe(DOCUMENT)
    expect(record).not.toHaveProperty('parsedBody')
  })

  it('has no body if the request had none, whatever a parser set', async () => {
    const app = express().use(express.json(), expressMiddleware(service))
    for (const bytes of ['GET /v2/x HTTP/1.1\r\nHost: a\r\n\r\n', put('/v2/x', 'application/json', '')]) {
      const { record } = await exchange(app, bytes)
      expect(record).not.toHaveProperty('body')
      expect(record).not.toHaveProperty('parsedBody')
    }
  })

  it.each([
    ['express.raw()', (app: ReturnType<typeof express5>) => app.use(express.raw({ type: '*/*' }))],
    ['express.text()', (app: ReturnType<typeof express5>) => app.use(express.text({ type: '*/*' }))],
    [
      'a JSON parser that keeps the bytes as rawBody',
      (app: ReturnType<typeof express5>) =>
        app.use(express.json({ verify: (req, _res, bytes) => void Object.assign(req, { rawBody: bytes }) })),
    ],
  ])('uses the bytes of %s', async (_parser, withParser) => {
    const { record } = await exchange(withParser(express()).use(expressMiddleware(service)), put('/v2/x'))
    expect(Buffer.from(record!.body!).toString()).toBe(DOCUMENT)
    expect(record).not.toHaveProperty('parsedBody')
  })

  it('determines its mount point, also inside routers', async () => {
    const router = express.Router().use('/inner', expressMiddleware(service))
    const { record } = await exchange(express().use('/outer', router), put('/outer/inner/v1/x?y=1'))
    expect(record).toMatchObject({ url: '/v1/x?y=1', mountPrefix: '/outer/inner' })
  })

  it('passes paths outside the API with their bodies to the host', async () => {
    const app = express().use(expressMiddleware(service), express.json())
    app.put('/mine', (req, res) => void res.json({ mine: req.body }))
    const { body, record } = await exchange(app, put('/mine'))
    expect(JSON.parse(body)).toEqual({ mine: JSON.parse(DOCUMENT) })
    expect(record).toBeUndefined()
  })

  it('keeps headers that the host set earlier', async () => {
    const app = express().use((_req, res, next) => {
      res.setHeader('x-host', 'yes')
      next()
    }, expressMiddleware(service))
    expect((await exchange(app, put('/v2/x'))).headers).toMatchObject({
      'x-host': 'yes',
      'content-type': 'application/json',
    })
  })
})
