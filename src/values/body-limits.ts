/** Limits of request bodies of the HTTP API that are not complete. */
export interface BodyLimits {
  /** Bytes of all of them. */
  readonly maxUnfinishedBodyBytes: number
  /** Bytes of those of one client address. */
  readonly maxUnfinishedBodyBytesPerAddress: number
}

/** 64 MiB in all, and 8 MiB of one address. */
export const BODY_LIMIT_DEFAULTS: BodyLimits = Object.freeze({
  maxUnfinishedBodyBytes: 67_108_864,
  maxUnfinishedBodyBytesPerAddress: 8_388_608,
})
