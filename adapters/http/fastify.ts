/** hookswitch as a plugin of Fastify 5, with its own handling of bodies, which stays inside its scope. */
import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { HttpService, ResponseRecord } from 'hookswitch'
import { BODY_TIMEOUT_MS, handled, headerRecord, requestPath } from './incoming.js'
import { lingered, readNodeBody } from './node-body.js'

/** Only these are taken, so that the host keeps every other path and its own wildcard. */
const ROOTS = ['/v1', '/v2']

/**
 * A plugin for `app.register(fastifyPlugin(hs), { prefix })`. Hooks of the host run as for its own routes; its body
 * limit and its content type parsers do not apply below ours.
 *
 * @example await app.register(fastifyPlugin(hs), { prefix: '/telephony' })
 */
export function fastifyPlugin(hs: HttpService): FastifyPluginAsync {
  return async (plugin) => {
    const segments = plugin.prefix.replace(/\/+$/, '').split('/').length - 1
    const answer = (request: FastifyRequest, reply: FastifyReply) =>
      answerFastify(hs, segments, request, reply)
    for (const prefix of ROOTS) {
      await plugin.register(
        async (scope) => {
          scope.removeAllContentTypeParsers()
          // the stream itself: we read it, up to our own limit
          scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
          scope.all('/', answer)
          scope.all('/*', answer)
          // methods that Fastify has no routes for
          scope.setNotFoundHandler(answer)
          // a media type that Fastify cannot parse is for us to refuse
          scope.setErrorHandler((error: { code?: string }, request, reply) => {
            if (error.code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') throw error
            return answer(request, reply)
          })
        },
        { prefix },
      )
    }
  }
}

async function answerFastify(
  hs: HttpService,
  segments: number,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { raw, body } = request
  const path = requestPath(raw.url ?? '/')
  const mountPrefix = path.split('/', segments + 1).join('/')
  const read = await readNodeBody(raw, BODY_TIMEOUT_MS, body instanceof Readable ? body : raw)
  if (read === 'gone') return reply.hijack()
  const response = await handled(hs, {
    method: raw.method ?? 'GET',
    url: path.slice(mountPrefix.length),
    headers: headerRecord(raw.rawHeaders),
    ...read,
    ...(raw.socket.remoteAddress === undefined ? {} : { remoteAddress: raw.socket.remoteAddress }),
    mountPrefix,
  })
  reply.code(response.status).headers(response.headers)
  if (!('bodyProblem' in read)) {
    // nothing, not an empty buffer, with 304 and HEAD: for that Fastify would make up a type and a length. Bytes
    // else: to a JSON string Fastify adds a charset, and clients compare the whole content type
    return reply.send(response.body === '' ? undefined : Buffer.from(response.body))
  }
  if (raw.httpVersionMajor === 1) reply.header('connection', 'close')
  return reply.send(Readable.from(thenLinger(response, lingered(raw))))
}

/** The answer, complete for the client by its content-length, but ended (and closed) only when it has stopped sending. */
async function* thenLinger(response: ResponseRecord, gone: Promise<void>): AsyncGenerator<Buffer> {
  yield Buffer.from(response.body)
  await gone
}
