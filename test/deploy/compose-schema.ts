/**
 * The part of the Compose specification (compose-spec.io, 2026) that our file uses, as a JSON Schema. Every other key is
 * refused, so that a misspelled one is noticed.
 */
const strings = { type: 'array', items: { type: 'string' } } as const
const duration = { type: 'string', pattern: '^(\\d+(us|ms|s|m|h))+$' } as const

const service = {
  type: 'object',
  additionalProperties: false,
  required: ['image'],
  properties: {
    build: {
      type: 'object',
      additionalProperties: false,
      required: ['context'],
      properties: { context: { type: 'string' }, dockerfile: { type: 'string' } },
    },
    image: { type: 'string' },
    profiles: { type: 'array', items: { type: 'string' } },
    restart: { enum: ['no', 'always', 'on-failure', 'unless-stopped'] },
    stop_grace_period: duration,
    read_only: { type: 'boolean' },
    cap_drop: strings,
    security_opt: strings,
    command: strings,
    environment: { type: 'object', additionalProperties: { type: 'string' } },
    volumes: strings,
    ports: strings,
    networks: {
      anyOf: [
        strings,
        {
          type: 'object',
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            properties: { aliases: strings },
          },
        },
      ],
    },
    depends_on: {
      anyOf: [
        strings,
        {
          type: 'object',
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            required: ['condition'],
            properties: {
              condition: { enum: ['service_started', 'service_healthy', 'service_completed_successfully'] },
            },
          },
        },
      ],
    },
    healthcheck: {
      type: 'object',
      additionalProperties: false,
      required: ['test'],
      properties: { test: strings, interval: duration, retries: { type: 'integer', minimum: 1 } },
    },
  },
} as const

export const COMPOSE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['services'],
  patternProperties: { '^x-': {} },
  properties: {
    name: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]*$' },
    services: { type: 'object', minProperties: 1, additionalProperties: service },
    networks: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          ipam: {
            type: 'object',
            additionalProperties: false,
            properties: {
              config: {
                type: 'array',
                items: {
                  type: 'object',
                  additionalProperties: false,
                  properties: { subnet: { type: 'string' } },
                },
              },
            },
          },
        },
      },
    },
    volumes: {
      type: 'object',
      additionalProperties: { type: ['object', 'null'], additionalProperties: false },
    },
  },
} as const
