import { describe, expect, it } from 'vitest'
import { renderOperations, type Spec } from './client-operations.js'

/** An OpenAPI document with one operation. */
function specOf(path: string, operation: object, schemas: object = {}): Spec {
  const parameters = {
    account_id: { name: 'account_id', in: 'path', description: 'An account.', schema: { type: 'string' } },
    page_size: { name: 'page_size', in: 'query', description: 'A size.', schema: { type: 'integer' } },
    start_key: { name: 'start_key', in: 'query', description: 'A start.', schema: { type: 'string' } },
    since: { name: 'since_ms', in: 'query', description: 'A time.', schema: { type: ['integer', 'null'] } },
  }
  return { paths: { [path]: operation }, components: { parameters, schemas } } as unknown as Spec
}

const success = (data: object) => ({
  '200': {
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Success' }, { properties: { data } }] },
      },
    },
  },
})
const ref = (name: string) => ({ $ref: `#/components/parameters/${name}` })

describe('the generated operations', () => {
  it('contain a new list with its types, and its parameters in camel case', () => {
    const text = renderOperations(
      specOf(
        '/accounts/{account_id}/users',
        {
          parameters: [ref('account_id')],
          get: {
            operationId: 'listUsers',
            summary: 'List the users',
            parameters: [ref('page_size'), ref('start_key')],
            responses: success({ type: 'array', items: { $ref: '#/components/schemas/User' } }),
          },
        },
        {
          User: {
            type: 'object',
            required: ['id'],
            properties: {
              id: { type: 'string' },
              priv_level: { description: 'Rights.', enum: ['user', 'admin'] },
            },
          },
        },
      ),
    )
    expect(text).toContain(
      "export interface User {\n  /** Value of `id`. */\n  readonly id: string\n  /** Rights. */\n  readonly priv_level?: 'user' | 'admin'\n}",
    )
    expect(text).toContain('listUsers(parameters?: ListUsersParameters, options?: CallOptions): List<User>')
    expect(text).toContain(
      "listUsers: { method: 'GET', path: '/accounts/{account_id}/users', isList: true },",
    )
    expect(text).toContain('readonly pageSize?: number')
  })

  it('contain a body, options without parameters, and no response that is not JSON', () => {
    const text = renderOperations(
      specOf('/move', {
        put: {
          operationId: 'move',
          summary: 'Move',
          parameters: [ref('since')],
          requestBody: {
            content: {
              'application/json': {
                schema: { properties: { data: { type: 'object', properties: { to: { type: 'string' } } } } },
              },
            },
          },
          responses: success({ oneOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] }),
        },
        get: {
          operationId: 'stream',
          summary: 'Stream',
          responses: { '200': { content: { 'text/event-stream': {} } } },
        },
        delete: {
          operationId: 'stop',
          summary: 'Stop',
          security: [],
          responses: { '200': { content: { 'application/json': { schema: { type: 'object' } } } } },
        },
      }),
    )
    expect(text).toContain('readonly sinceMs?: number | null | undefined\n')
    expect(text).toContain(
      'move(parameters: MoveParameters, options?: CallOptions): Promise<ApiResponse<readonly string[] | null>>',
    )
    expect(text).toContain(
      "stop: { method: 'DELETE', path: '/move', hasNoParameters: true, isOpen: true, isRaw: true },",
    )
    expect(text).toContain('stop(options?: CallOptions)')
    expect(text).not.toContain('stream')
  })

  it('refuse a parameter that the client cannot write', () => {
    const spec = specOf('/x', {
      get: { operationId: 'x', summary: 'X', parameters: [ref('bad')], responses: success({}) },
    })
    const bad = { name: 'Page-Size', in: 'query', description: 'Bad.', schema: {} }
    Object.assign(spec.components.parameters, { bad })
    expect(() => renderOperations(spec)).toThrow('cannot write the parameter Page-Size')
  })
})
