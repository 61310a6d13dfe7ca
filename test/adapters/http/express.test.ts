import http from 'node:http'
import express5 from 'express'
import express4 from 'express4'
import type { HttpService, RequestRecord } from 'hookswitch'
import { expressMiddleware } from 'hookswitch/express'
import { describe, expect, it } from 'vitest'
import { echoService } from './echo.js'
import { sendRaw } from './raw.js'
import { serving } from './serving.js'

const start = serving()

const DOCUMENT = '{"data":{"a":1}}'
const put = (target: string, type = 'application/json', body = DOCUMENT) =>
  `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

describe.each([
  ['Express 4', express4],
  ['Express 5', express5],
])('as a middleware of %s', (_version, express) => {
  const seen: RequestRecord[] = []
  const service: HttpService = {
    ...echoService(true),
    handle: (record) => {
      seen.push(record)
      return echoService(true).handle(record)
    },
  }
  const ask = async (app: ReturnType<typeof express5>, bytes: string) => {
    const port = await start(http.createServer(app))
    seen.length = 0
    const response = await sendRaw(port, bytes)
    return { ...response, record: seen[0] }
  }

  it('takes what a JSON parser before it made of the body', async () => {
    const { record } = await ask(express().use(express.json(), expressMiddleware(service)), put('/v2/x'))
    expect(record).toMatchObject({ parsedBody: { data: { a: 1 } } })
    expect(record).not.toHaveProperty('body')
  })

  it('reads a body that the parsers before it left alone', async () => {
    const app = express().use(
      express.json(),
      express.urlencoded({ extended: true }),
      expressMiddleware(service),
    )
    const { record } = await ask(app, put('/v2/x', 'application/x-json'))
    expect(Buffer.from(record!.body!).toString()).toBe(DOCUMENT)
    expect(record).not.toHaveProperty('parsedBody')
  })

  it('has no body where there was none, whatever a parser put there', async () => {
    const app = express().use(express.json(), expressMiddleware(service))
    for (const bytes of ['GET /v2/x HTTP/1.1\r\nHost: a\r\n\r\n', put('/v2/x', 'application/json', '')]) {
      const { record } = await ask(app, bytes)
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
  ])('takes the bytes from %s', async (_parser, withParser) => {
    const { record } = await ask(withParser(express()).use(expressMiddleware(service)), put('/v2/x'))
    expect(Buffer.from(record!.body!).toString()).toBe(DOCUMENT)
    expect(record).not.toHaveProperty('parsedBody')
  })

  it('knows its mount point, also inside routers', async () => {
    const router = express.Router().use('/inner', expressMiddleware(service))
    const { record } = await ask(express().use('/outer', router), put('/outer/inner/v1/x?y=1'))
    expect(record).toMatchObject({ url: '/v1/x?y=1', mountPrefix: '/outer/inner' })
  })

  it('lets foreign paths and their bodies through to the host', async () => {
    const app = express().use(expressMiddleware(service), express.json())
    app.put('/mine', (req, res) => void res.json({ mine: req.body }))
    const { body, record } = await ask(app, put('/mine'))
    expect(JSON.parse(body)).toEqual({ mine: JSON.parse(DOCUMENT) })
    expect(record).toBeUndefined()
  })

  it('keeps headers that the host has set before it', async () => {
    const app = express().use((_req, res, next) => {
      res.setHeader('x-host', 'yes')
      next()
    }, expressMiddleware(service))
    expect((await ask(app, put('/v2/x'))).headers).toMatchObject({
      'x-host': 'yes',
      'content-type': 'application/json',
    })
  })
})
