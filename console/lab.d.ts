// The report of a forecast and the file of an order, for the checker alone: see types.d.ts.

/** A side of a table or an index. */
export type ForecastSide = { units: number; unit_hours?: number; provisioned_at_the_end?: number; throttled: number; wanted?: number[] };
export type ForecastPart = { index?: string; read: ForecastSide; write: ForecastSide };
export type ForecastTable = { name: string; is_on_demand: boolean; cost: number | null; on_demand: number | null; provisioned: number | null; use: number; parts: ForecastPart[] };
/** What a limit refuses of a key. */
export type ForecastRow = { table: string; index?: string; reason: string; key: string; throttled: number; first: string; worst: string; hours: Record<string, number> };
export type ForecastLine = { table: string; price: string; quantity: number; free?: number; cost: number | null };
export type ForecastCost = { currency: string; source: string; total: number; is_partial: boolean; break_even_reads?: number; break_even_writes?: number; lines: ForecastLine[];
  savings: { change: string; saves: number }[] };
export type Forecast = { days: number; requests: number; throttled: number; failed: number; first_throttled: string | null;
  range: { seeds: number; throttled_least: number; throttled_most: number; cost_least: number; cost_most: number };
  throttles: ForecastRow[]; throttles_left_out?: number; over_time: { hours_of_step: number; throttled: number[][] }; tables: ForecastTable[];
  patterns: { name: string; requests: number; throttled: number; failed: number; retries_waited_s: number }[]; cost: ForecastCost; notes: string[]; plan?: object };
/** What the endpoint takes. */
export type ForecastAsked = { scale?: number; days?: number; growth?: string; keys?: string; free_tier?: boolean; plan?: object };

/** A request of an order; `trouble`: what was done to it. */
export type OrderStep = { client: string; name: string; operation: string; on: string; came: string; isWrite: boolean; trouble: string };
/** A file of races/. */
export type Order = { why: string; sentence: string; first: number; steps: OrderStep[]; clients: { client: string; name: string }[] };
