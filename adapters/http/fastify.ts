/** hookswitch as a plugin of Fastify 5. It reads request bodies itself; its content type parser stays in its scope. */
import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { checkService, type HttpService, type ResponseRecord } from 'hookswitch/adapter'
import { drainRequest, readNodeBody } from './node-body.js'
import { startRecord } from './node-handler.js'
import { type Parts, partsOf, watchEnd } from './node-stream.js'
import { inTurn } from './node-turns.js'
import {
  admitBody,
  BODY_TIMEOUT_MS,
  handleRequest,
  hasTooLargeHeaders,
  requestPath,
  transportError,
  withBody,
} from './request-record.js'
import { type AwaitTaken, createUnsent, UNSENT_DEFAULTS } from './unsent.js'

/**
 * The paths that the plugin registers for a service that names none. The host keeps all others and its own wildcard
 * route.
 */
const API_ROOTS = ['/v1', '/v2']

/**
 * Creates a plugin for `app.register(fastifyPlugin(hs), { prefix })`. The host's hooks run as for its own routes; its
 * body limit and content type parsers do not apply to these routes. A request body must arrive within 30 s and be at
 * most 1 MiB; otherwise the response is 408 or 413. Headers above 16 KiB get a 431.
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` if `hs` is no instance
 * @example await app.register(fastifyPlugin(hs), { prefix: '/telephony' })
 */
export function fastifyPlugin(hs: HttpService): FastifyPluginAsync {
  checkService('fastifyPlugin', hs)
  return async (plugin) => {
    const prefixSegments = plugin.prefix.replace(/(?<!\/)\/+$/, '').split('/').length - 1
    const awaitTaken = createUnsent(UNSENT_DEFAULTS)
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      handleFastifyRequest(hs, prefixSegments, request, reply, awaitTaken)
    for (const prefix of hs.rootPaths ?? API_ROOTS) {
      await plugin.register(
        async (scope) => {
          scope.removeAllContentTypeParsers()
          // Passes the stream on, because the handler reads it up to its own limit.
          scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
          scope.all('/', handler)
          scope.all('/*', handler)
          // Methods that Fastify cannot route.
          scope.setNotFoundHandler(handler)
          // The API itself responds to content types that Fastify cannot parse.
          scope.setErrorHandler((error: { code?: string }, request, reply) => {
            if (error.code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') throw error
            return handler(request, reply)
          })
        },
        { prefix },
      )
    }
  }
}

async function handleFastifyRequest(
  hs: HttpService,
  prefixSegments: number,
  request: FastifyRequest,
  reply: FastifyReply,
  awaitTaken: AwaitTaken,
): Promise<FastifyReply> {
  const { raw, body } = request
  await new Promise<void>((resolve) => inTurn(raw, reply.raw, resolve))
  reply.raw.once('prefinish', () => watchEnd(reply.raw, awaitTaken))
  if (hasTooLargeHeaders(raw.rawHeaders)) return replyAndDrain(raw, reply, transportError(hs, 431))
  const path = requestPath(raw.url ?? '/')
  const mountPrefix = path.split('/', prefixSegments + 1).join('/')
  const record = startRecord(raw, path.slice(mountPrefix.length), mountPrefix)
  const bodyResult = await readNodeBody(
    raw,
    BODY_TIMEOUT_MS,
    () => admitBody(hs, record),
    body instanceof Readable ? body : raw,
  )
  if (bodyResult === 'aborted') return reply.hijack()
  const response = await handleRequest(hs, withBody(record, bodyResult))
  const parts = response.stream ?? ('bodyProblem' in bodyResult ? undefined : partsOf(response))
  if (parts) return replyWithParts(reply, response, parts, awaitTaken)
  if ('bodyProblem' in bodyResult) return replyAndDrain(raw, reply, response)
  reply.code(response.status).headers(response.headers)
  // With 304 and HEAD: `undefined`, because for an empty buffer Fastify would add a content type and length.
  // Otherwise bytes: to a JSON string Fastify adds a charset, and clients compare the whole content type.
  const content = response.bytes ?? response.body
  return reply.send(content.length === 0 ? undefined : Buffer.from(content))
}

/** Responds with parts, which Fastify reads as fast as the connection takes them, and destroys when the client has gone. */
function replyWithParts(
  reply: FastifyReply,
  { status, headers }: ResponseRecord,
  parts: Parts,
  awaitTaken: AwaitTaken,
): FastifyReply {
  // The client has gone while the request was handled.
  if (reply.raw.destroyed) {
    parts.close()
    return reply.hijack()
  }
  const abort = () => void reply.raw.destroy()
  let release = () => {}
  const body = new Readable({
    read() {
      release()
      void parts.next().then((part) => {
        if (body.destroyed) return
        if (part !== undefined) release = awaitTaken(parts.held ?? part.length, abort)
        this.push(part ?? null)
      })
    },
    destroy(error, done) {
      release()
      parts.close()
      done(error)
    },
  })
  parts.onAbort(abort)
  return reply.code(status).headers(headers).send(body)
}

/** Responds to a request whose body was not read completely. */
function replyAndDrain(
  raw: FastifyRequest['raw'],
  reply: FastifyReply,
  response: ResponseRecord,
): FastifyReply {
  reply.code(response.status).headers(response.headers)
  if (raw.httpVersionMajor === 1) reply.header('connection', 'close')
  return reply.send(Readable.from(streamThenDrain(response, drainRequest(raw))))
}

/** Sends the body, complete by its content-length, but ends (and closes) only after the client stops sending. */
async function* streamThenDrain(response: ResponseRecord, drained: Promise<void>): AsyncGenerator<Buffer> {
  yield Buffer.from(response.bytes ?? response.body)
  await drained
}
