# As much of the gem aws-sdk-dynamodb as the first test of docs/languages/ruby.md needs.
require "json"
require "net/http"

module Aws
  module DynamoDB
    class Client
      HEADERS = { "Content-Type" => "application/x-amz-json-1.0", "X-Amz-Date" => "20260101T000000Z",
                  "Authorization" => "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, " \
                                     "SignedHeaders=host, Signature=0" }.freeze
      Reply = Struct.new(:item)

      def initialize(endpoint:, region:, access_key_id:, secret_access_key:)
        raise ArgumentError unless region && access_key_id && secret_access_key
        @url = URI(endpoint)
      end

      %i[create_table delete_table put_item get_item].each do |operation|
        define_method(operation) do |**members|
          reply = Net::HTTP.post(@url, JSON.dump(camel(members)), HEADERS.merge("X-Amz-Target" => "DynamoDB_20120810.#{name_of(operation)}"))
          raise reply.body unless reply.code == "200"
          Reply.new(JSON.parse(reply.body)["Item"]&.transform_values { |value| value.values.first })
        end
      end

      private

      def name_of(word) = word.to_s.split("_").map(&:capitalize).join

      # Members are symbols; keys of items are strings, and so are their values.
      def camel(value)
        case value
        when Array then value.map { |one| camel(one) }
        when Hash then value.to_h { |key, one| key.is_a?(String) ? [key, { "S" => one }] : [name_of(key), camel(one)] }
        else value
        end
      end
    end
  end
end
