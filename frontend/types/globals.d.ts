import type { Payloads } from "./payloads";

declare global {
  /** The value of a payload by its key, as `payloads.d.ts` lists them. */
  type Payload<Key extends keyof Payloads> = Payloads[Key];
}
